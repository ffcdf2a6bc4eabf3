"""Files of a run: run directory, request, choices, lock file."""
