"""What a specification states in Python: calls, results, doctests, and code blocks."""
