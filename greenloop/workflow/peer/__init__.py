"""Comparison of green code with a second implementation of the user's text."""
