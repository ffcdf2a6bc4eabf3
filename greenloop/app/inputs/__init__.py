"""Reading and validation of the commands' input files."""
