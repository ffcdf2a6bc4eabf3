"""Input files of the commands."""
