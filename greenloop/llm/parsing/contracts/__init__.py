"""Parsers of contracts in Markdown, or in the JSON form of recordings."""
