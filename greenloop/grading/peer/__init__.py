"""Comparison of the code with a second implementation of the same text."""
