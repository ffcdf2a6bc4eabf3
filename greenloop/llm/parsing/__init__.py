"""Parsers of model answers."""
