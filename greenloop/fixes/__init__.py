"""Repairs that cost no model call: lint fixes that keep behaviour, missing imports, formatting."""

from greenloop.fixes.free import Fixed, free_fixes
from greenloop.fixes.imports import with_missing_imports

__all__ = ["Fixed", "free_fixes", "with_missing_imports"]
