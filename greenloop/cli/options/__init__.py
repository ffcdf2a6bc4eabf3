"""Command-line options: declarations only."""
