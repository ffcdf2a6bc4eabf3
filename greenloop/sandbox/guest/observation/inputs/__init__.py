"""Inputs that are no scenario of a test: single calls, and a generator of calls."""
