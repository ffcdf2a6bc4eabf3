"""Search-based repair: small edits at suspicious lines, tried until the tests pass."""

from greenloop.repair.search import search_patches

__all__ = ["search_patches"]
