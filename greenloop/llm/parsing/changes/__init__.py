"""Parsers of answers that change a project."""
