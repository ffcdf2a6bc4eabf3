"""Repairs without a model call: safe lint fixes, missing imports, formatting."""

from greenloop.autofix.missing_imports import add_missing_imports
from greenloop.autofix.pipeline import FixResult, apply_free_fixes

__all__ = ["FixResult", "add_missing_imports", "apply_free_fixes"]
