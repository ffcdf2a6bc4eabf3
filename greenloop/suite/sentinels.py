"""Tests that must fail whatever the code is: where they do not, the verdict is not pytest's own."""

from __future__ import annotations

import re

_SENTINELS = """


def {name}():
    assert 1 == 2


def {name}_raises():
    import pytest

    with pytest.raises(ValueError):
        pass


import unittest as {name}_unittest


class {cls}({name}_unittest.TestCase):
    def {name}(self):
        self.assertEqual(1, 2)
"""
# What changes every test of its file, so these too.
_OF_ALL = re.compile(r"^(pytestmark\b|\s*def pytest_|from unittest import \*)", re.MULTILINE)


def sentinels(code: str, module: str) -> tuple[str, tuple[str, ...]]:
    """The test file with sentinels at its end, and their names; ('', ()) where none can be put."""
    if _OF_ALL.search(code):
        return code, ()
    name = f"test_{module}_holds"
    while name in code:
        name += "_too"
    cls = "Test" + name.title().replace("_", "")
    added = _SENTINELS.format(name=name, cls=cls)
    return code + added, (name, f"{name}_raises", f"{cls}::{name}")
