"""Progress lines, summaries and reports in all output formats."""
