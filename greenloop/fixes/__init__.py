"""Repairs that cost no model call: lint fixes that keep behaviour, missing imports, formatting."""

from greenloop.fixes.free import Fixed, free_fixes

__all__ = ["Fixed", "free_fixes"]
