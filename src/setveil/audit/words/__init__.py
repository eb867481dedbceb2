"""The sentences that the audit itself knows, so that the judge is not lent the words of the judged."""
