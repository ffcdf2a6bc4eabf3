"""Run of a script as `__main__`."""
