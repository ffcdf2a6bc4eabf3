"""Repair without a model: single edits at suspicious places, tried until the tests pass."""

from greenloop.searching.search import search

__all__ = ["search"]
