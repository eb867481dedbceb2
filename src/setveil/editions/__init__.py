"""What publishing asks of a release of each kind: its files, its documents and its pages."""
