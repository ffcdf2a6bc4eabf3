"""Mutants that are marked as probably equivalent, and similar ones that are not."""

from __future__ import annotations

import pytest

from greenloop.grading.mutation import generate_mutants

CASES = {
    "class A:\n    def __repr__(self):\n        return f'{self.x}'\n": "__repr__",
    "class A:\n    def __hash__(self):\n        return hash(self.x) + 1\n": "__hash__",
    "def f(a):\n    raise ValueError('wrong')\n": "wording",
    "def f(a):\n    logger.warning('odd', a + 1)\n": "logged",
    "def f(a):\n    return a[0:a.x]\n": "slice from 0",
    "def f(a, b):\n    if a > b:\n        b = a\n": "extreme",
    "def f(a, b):\n    return a if a >= b else b\n": "extreme",
    "@functools.lru_cache(maxsize=9)\ndef f(a): pass\n": "cache",
    "@functools.wraps(g)\ndef f(a): pass\n": "readers",
    "def f(a):\n    return open(a, encoding='utf-8')\n": "UTF-8",
    "T = TypeVar('T')\n": "name of a type",
    "from typing import cast\ndef f(a):\n    return cast('int', a)\n": "with the type",
    "import typing\ndef f(a):\n    return typing.cast(list['A'], a)\n": "with the type",
    "def f(a):\n    return list(a)\n": "its copy",
    "def f(a):\n    return a.split(',')\n": "either end",
    "def f(a):\n    return a in '+-'\n": "do not occur",
    "def f(a):\n    return a.strip('/. ')\n": "do not occur",
    "def f(a):\n    return Thread(target=a, daemon=True)\n": "outlives the program",
    "def f(p):\n    p.add_argument('-n', help='how many')\n": "usage",
    "def f():\n    return argparse.ArgumentParser(prog='wc', description='Count.')\n": "usage",
}
FAULTS = (
    "from shop import cast\ndef f(a):\n    return cast('int', a)\n",
    "def f(a):\n    raise ValueError(a + 1)\n",
    "def f(a):\n    return a[1:a.x]\n",
    "def f(a):\n    return a[0::-1]\n",
    "def f(a, b):\n    if a > b:\n        b = a\n        a = 0\n",
    "def f(a, b):\n    if a > b:\n        b = a\n    else:\n        a = 0\n",
    "def f(a, b):\n    return a if a >= b else 0\n",
    "def f(a):\n    return open(a, encoding='latin-1')\n",
    "def f(shop):\n    shop.info('text')\n",
    "def f(p):\n    p.add_argument('-n', default='x')\n",
    "def f(shop):\n    shop.show(help='x')\n",
    "def f(a):\n    return a.split(',', 1)\n",
    "def f(a):\n    return a.rsplit(',', maxsplit=2)\n",
    "def f(a):\n    a.update(1)\n",
    "def f(a):\n    return a in 'abc'\n",
    "def f(a):\n    return a == '+-'\n",
    "@property\ndef f(a): pass\n",
)


@pytest.mark.parametrize(("code", "why"), CASES.items(), ids=CASES.values())
def test_probably_equivalent_mutants_are_marked(code: str, why: str) -> None:
    assert any(why in item.equivalence_reason for item in generate_mutants(code))


@pytest.mark.parametrize("code", FAULTS)
def test_similar_faults_are_not_marked(code: str) -> None:
    assert [
        item.equivalence_reason for item in generate_mutants(code) if item.equivalence_reason
    ] == []


def test_removed_or_changed_raise_is_a_fault() -> None:
    found = generate_mutants("def f(a):\n    raise ValueError('wrong')\n")
    kinds = {item.operator for item in found if not item.equivalence_reason}
    assert kinds == {"raise-removed", "exception"}


def test_f_string_message_leaves_only_the_type() -> None:
    found = generate_mutants("def f(a):\n    raise ValueError(f'{type(a).__name__} {a + 1}')\n")
    kinds = {item.operator for item in found if not item.equivalence_reason}
    assert kinds == {"raise-removed", "exception"}


def test_value_in_error_message_is_a_fault() -> None:
    found = generate_mutants("def f(a):\n    raise Wrong(a.b, f'{a.c}')\n")
    faults = [item.edit.text for item in found if not item.equivalence_reason]
    assert "None" in faults


def test_value_of_a_cast_is_no_type() -> None:
    found = generate_mutants("from typing import cast\ndef f(a):\n    return cast(int, a + 1)\n")
    faults = {item.id for item in found if not item.equivalence_reason}
    assert {item.id for item in found} - faults == {"3:17 argument"}
    assert "3:22 arithmetic" in faults
