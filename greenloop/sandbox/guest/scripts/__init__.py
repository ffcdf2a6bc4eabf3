"""Running a script as `__main__`."""
