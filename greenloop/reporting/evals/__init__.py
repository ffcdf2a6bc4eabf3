"""Reports of `eval`."""
