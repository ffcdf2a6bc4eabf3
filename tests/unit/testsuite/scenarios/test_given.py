"""Names of a scenario that no call of the code is given."""

from __future__ import annotations

import ast

import pytest

from greenloop.testsuite.scenarios.names import Function
from greenloop.testsuite.scenarios.proofs.given import check_given
from greenloop.testsuite.scenarios.records import RefusedError


def check(body: str) -> None:
    """Check a scenario with the columns `n` and `want` and the object `store`."""
    made = ast.parse(f"def scenario(n, want):\n    {body}\n").body[0]
    assert isinstance(made, Function)
    check_given(made, ["n", "want"], ["store"])


HELD = {
    "beside an answer in a list": "observe__(1, lambda: [want, f(n)])",
    "in a list of its own": "items = []\n    items.append(want)\n    observe__(1, lambda: items)",
    "by another name": "other = [want]\n    observe__(1, lambda: (other, f(n)))",
    "under a key": (
        "got = {}\n    observe__(1, lambda: operators__.setitem(got, want, f(n)))\n"
        "    observe__(2, lambda: got)"
    ),
    "taken from an answer": "observe__(1, lambda: f(n) - want)",
    "a constant that is taken from an answer": "observe__(1, lambda: f(n) - 2.5)",
}
GIVEN = {
    "an argument": "observe__(1, lambda: f(n, [want]))",
    "an argument by another name": "other = [want]\n    observe__(1, lambda: f(other))",
    "of a callback": "def call():\n        return want\n    observe__(1, lambda: f(call))",
    "of a class": (
        "class Fake:\n        def get(self):\n            return want\n"
        "    observe__(1, lambda: f(Fake()))"
    ),
    "an operand of an object": "observe__(1, lambda: store + want)",
    "a key of an object": "observe__(1, lambda: store[want])",
    "in a list that is an argument": (
        "items = []\n    items.append(want)\n    observe__(1, lambda: f(items))"
    ),
    "how often": "for _ in range(want):\n        observe__(1, lambda: f(n))",
    "of a context": "with observe__(1, lambda: f(want)):\n        observe__(2, lambda: f(n))",
    "awaited": "other = want\n    observe__(1, lambda: f(other))",
}


@pytest.mark.parametrize("body", HELD.values(), ids=HELD)
def test_what_is_only_held_beside_the_code_is_refused(body: str) -> None:
    with pytest.raises(RefusedError, match="an expected value would reach the code"):
        check(body)


@pytest.mark.parametrize("body", GIVEN.values(), ids=GIVEN)
def test_what_the_code_is_given_may_cross(body: str) -> None:
    check(body)
