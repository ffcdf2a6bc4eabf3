"""Parsers of model answers, one for each kind of answer."""
