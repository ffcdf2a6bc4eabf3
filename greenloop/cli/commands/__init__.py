"""Commands: each module builds what its command needs and returns the exit status."""
