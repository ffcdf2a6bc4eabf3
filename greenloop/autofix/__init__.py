"""Repairs that cost no model call: lint fixes that keep behaviour, missing imports, formatting."""

from greenloop.autofix.missing_imports import with_missing_imports
from greenloop.autofix.pipeline import Fixed, free_fixes

__all__ = ["Fixed", "free_fixes", "with_missing_imports"]
