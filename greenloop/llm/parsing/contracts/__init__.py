"""Contracts as models answer them: Markdown, or the JSON form of recordings."""
