"""Figures and pages about releases. Nothing yet: certificates come from `release.documents`."""
