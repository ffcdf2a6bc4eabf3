"""Repair without a model: single edits at suspicious places, tried until the tests pass."""

from greenloop.repair.search import search_patches

__all__ = ["search_patches"]
