"""Evidence: line and branch coverage."""
