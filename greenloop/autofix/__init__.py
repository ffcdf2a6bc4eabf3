"""Repairs without a model call: safe lint fixes, missing imports, formatting."""

from greenloop.autofix.missing_imports import add_missing_imports
from greenloop.autofix.pipeline import FixResult, apply_free_fixes
from greenloop.autofix.ruff import Linter, lint_code

__all__ = ["FixResult", "Linter", "add_missing_imports", "apply_free_fixes", "lint_code"]
