"""A changed literal is of the same kind and differs; a far one is nowhere near."""

import ast

import pytest

from greenloop.grading.assertion_mutation.literals import (
    change_literal,
    change_literal_far,
    change_members_far,
)


def node(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


@pytest.mark.parametrize(
    "source",
    "0 1 -3 10**0 2.5 1e300 1e308 -0.0 1j True False '' 'abc' b'' b'x' [] [1] [1,[2]] () (1,) {} "
    "{1} {1,1} {1,2} {'a':1} {'a':{'b':[]}} [''] [None] None set() dict() 'é' [True,'x'] "
    "['a',''] -1.5e-9".split(),
)
def test_near_differs_and_keeps_the_kind(source: str) -> None:
    changed = change_literal(node(source))
    if source == "10**0":
        assert changed is None
        return
    assert changed is not None
    before, after = eval(source), eval(changed)
    assert before != after
    assert type(after) is type(before) or before is None


@pytest.mark.parametrize("source", ["[x]", "{'a': f()}", "(p(1), 2, x)", "{x}", "[*xs]"])
def test_containers_of_other_values_become_longer(source: str) -> None:
    class Same:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Same)

        __hash__ = object.__hash__

    same = Same()
    names = {"x": same, "f": lambda: same, "p": lambda _: same, "xs": [same]}
    changed = change_literal(node(source))
    assert changed is not None
    assert eval(changed, dict(names)) != eval(source, dict(names))


@pytest.mark.parametrize("source", ["x", "f(1)", "f'{x}'", "x + 1", "lambda: 1"])
def test_other_nodes_have_no_near_literal(source: str) -> None:
    assert change_literal(node(source)) is None


@pytest.mark.parametrize("source", ["3", "-3", "0", "2.5", "'ab'", "b'x'", "[1, 2.0]", "(1,)"])
def test_far_literals_are_far(source: str) -> None:
    changed = change_literal_far(node(source))
    assert changed is not None
    before, after = eval(source), eval(changed)
    assert before != after
    if isinstance(before, (int, float)):
        assert abs(after - before) > 1e6 * (abs(before) + 1)


@pytest.mark.parametrize("source", ["''", "x", "[]", "['']", "{'a': ''}"])
def test_some_literals_have_no_far_one(source: str) -> None:
    assert change_literal_far(node(source)) is None


def test_far_members_share_nothing_with_the_members() -> None:
    for source in ("(1, 2)", "['a', 'b']", "{1, 2.5}"):
        changed = change_members_far(node(source))
        assert changed is not None
        assert not set(eval(changed)) & set(eval(source))
    for source in ("'abc'", "()", "[x]", "{'a': 1}", "('', 'a')"):
        assert change_members_far(node(source)) is None
