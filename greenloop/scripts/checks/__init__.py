"""Checks of a script's output."""
