"""Parsers of changes of a project."""
