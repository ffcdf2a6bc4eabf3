"""Reports of batches and of `verify`."""
