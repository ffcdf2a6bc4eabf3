"""Async tests that nothing runs: their body would be left out, and they would seem to pass."""

from __future__ import annotations

import inspect
from typing import Any
from unittest import TestCase


def is_async(function: Any) -> bool:
    """Whether calling it runs nothing of it."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def is_plain_unittest(item: Any) -> bool:
    """Whether it is a method of a `unittest` class that waits for none of its methods."""
    kind = getattr(item, "cls", None)
    if not (isinstance(kind, type) and issubclass(kind, TestCase)):
        return False
    return kind.run is TestCase.run and kind._callTestMethod is TestCase._callTestMethod  # type: ignore[attr-defined]
