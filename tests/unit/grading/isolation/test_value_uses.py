"""Names of which a test sees more than an exception."""

from __future__ import annotations

from greenloop.grading.isolation.value_uses import find_value_uses


def test_what_is_only_to_raise_is_no_use_of_a_value() -> None:
    tests = """
import pytest
from m import f as g, h

def test_a():
    with pytest.raises(ValueError):
        g(h())
    assert g(1).size == 2

class TestB:
    def test_c(self):
        with self.assertRaises(KeyError):
            h()
        with open("x") as file:
            h(file)
"""
    found = find_value_uses(tests, "m")
    assert found == {"test_a": {"f", "size"}, "TestB::test_c": {"h"}}
