"""Progress output while a command runs."""
