"""Progress while a command runs."""
