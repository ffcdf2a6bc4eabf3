"""What a run keeps on disk: request, run directory, lock file."""
