"""Readers of the examples in a specification: calls, results, doctests, and code blocks."""
