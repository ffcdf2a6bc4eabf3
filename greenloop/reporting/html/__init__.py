"""HTML pages of a report and of a batch."""
