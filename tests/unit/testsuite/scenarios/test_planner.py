"""What crosses to the process of the code, and what is refused."""

from __future__ import annotations

import ast

import pytest

from greenloop.sandbox.job import Job
from greenloop.testsuite.scenarios import ScenarioFile, build_scenarios, build_whole_tests
from greenloop.testsuite.scenarios.module_symbols import read_symbols
from tests.support.module_corpus import pairs

CODE = """
from dataclasses import dataclass
from enum import Enum

class Color(Enum):
    RED = "r"
    BLUE = "b"

@dataclass
class Point:
    x: int
    y: int = 0

class Store:
    def put(self, key, value): ...

class StoreError(ValueError): ...

def f(*args): ...
def parse(text): ...
def make_store() -> Store: ...
"""
HEAD = "import itertools, pytest\nfrom m import Color, Point, Store, StoreError, f, parse, make_store\n\n"


def plan(body: str, head: str = HEAD) -> ScenarioFile:
    return build_scenarios(head + body, "m", CODE)


def test_equality_is_judged_without_the_code() -> None:
    found = plan('def test_sum():\n    """R1: gives 77."""\n    assert f(1, 2) == 77  # not 78\n')
    assert "observe__(1, lambda: f(1, 2))" in found.scenario
    assert "assert seen__1() == 77" in found.judge
    assert "from m" not in found.judge
    assert [(item.test, item.line, item.names) for item in found.scenarios] == [
        ("test_sum", 4, {"f"})
    ]
    for word in ("77", "78", "R1", "sum"):
        assert word not in found.scenario


@pytest.mark.parametrize(
    ("statement", "needs_pytest"),
    [
        ("assert f(1) == 77", False),
        ("with pytest.raises(ValueError):\n        f(1)", False),
        ("assert f(1) == pytest.approx(77)", True),
        ("assert f(1) == close_to(77)", True),
    ],
)
def test_pytest_is_loaded_for_a_judge_that_uses_it(statement: str, needs_pytest: bool) -> None:
    head = f"{HEAD}from pytest import approx as close_to\n"
    found = plan(f"def test_f():\n    {statement}\n", head)
    assert not found.not_observable
    job = Job("judge", (), {"judges": [(found.judge, [])]})
    assert (job.has_pytest, job.needs_pytest) == (True, needs_pytest)


# Each: the body of a test, what its scenario has, and what it has not.
CROSSING = {
    "the module on the right": ("assert 77 == f(1)", "f(1)", "77"),
    "an opposite": ("assert f(1) != 77", "f(1)", "77"),
    "an order": ("assert 5 < f(1) < 77", "f(1)", "77"),
    "membership": ("assert 77 in f(1)", "f(1)", "77"),
    "members of an object": (
        "store = Store()\n    assert 5 not in store\n    assert 'x' in store",
        "operators__.contains(store, 'x')",
        "not",
    ),
    "a function of an object": (
        "store = Store()\n    assert tuple(map(str, vars(store))) == ('77',)",
        "vars(store)",
        "77",
    ),
    "identity of two results": (
        "one = f(1)\n    assert f(2) is not one",
        "operators__.is_(f(2), one)",
        "not",
    ),
    "identity": ("assert f(1) is 77", "f(1)", "77"),
    "truth": ("assert not f(1)", "observe__(1, lambda: f(1), 'bool')", "not"),
    "a conjunction": ("assert f(1) == 77 and f(2) == 78", "f(2)", "77"),
    "a type": ("assert isinstance(f(1), str)", "f(1)", "str"),
    "a length": ("assert len(f(1)) == 77", "'len'", "77"),
    "a tolerance": ("assert f(1) == pytest.approx(77.5)", "f(1)", "77"),
    "a part": ("assert f(1)['total'] == 77", "f(1)", "total"),
    "a method of a value": ("assert f(1).startswith('Err')", "f(1)", "Err"),
    "an attribute": ("assert f(1).total == 77", "f(1).total", "77"),
    "an awaited value": ("assert f(1)[0] + 1 == 77", "f(1)", "77"),
    "a record": ("assert f(1) == Point(77, 78)", "f(1)", "77"),
    "a member": ("assert f(1) is Color.BLUE", "f(1)", "BLUE"),
    "an expected name": ("want = [77]\n    assert f([1]) == want", "f([1])", "77"),
    "what a test prints": (
        "want = 77\n    print('wanted', want)\n    got = f(1)\n    print(f'{got} {want} {f(2)}')\n"
        "    assert got == want",
        "observe__(2, lambda: f(2))",
        "77",
    ),
    "what a test logs": (
        "import logging\n    log = logging.getLogger('x')\n    want = 77\n    got = f(1)\n"
        "    log.info('%s %s', got, want)\n    logging.warning(want)\n    assert got == want",
        "f(1)",
        "77",
    ),
    "an exception": (
        "with pytest.raises(StoreError, match='xyz') as info:\n        f(1)\n"
        "    assert info.value.code == 77",
        "f(1)",
        "xyz",
    ),
    "a raising function": ("pytest.raises(ValueError, f, 1)", "f(1)", "ValueError"),
    "items of a generator": (
        "assert list(itertools.islice(f(1), 2)) == [77, 78]",
        "lambda: itertools.islice(f(1), 2), 'iterable'",
        "77",
    ),
    "an order that raises": (
        "with pytest.raises(TypeError, match='77'):\n        Store() < 5",
        "operators__.lt(Store(), 5)",
        "77",
    ),
    "a warning": ("with pytest.warns(UserWarning, match='xyz'):\n        f(1)", "f(1)", "Warning"),
    "a loop": (
        "for n, want in [(1, 77), (2, 78)]:\n        assert f(n) == want",
        "(1, None)",
        "77",
    ),
    "a comprehension": ("assert [f(n) for n in range(5)] == [77]", "for n in range(5)", "77"),
    "a selection": ("assert [n for n in range(5) if f(n)] == [33]", "f(n)", "33"),
    "all of them": ("assert all(f(n) > 77 for n in range(5))", "f(n)", "77"),
    "changed arguments": ("data = [3]\n    f(data)\n    assert data == [77]", "data", "77"),
    "keys of a table": (
        "table = {1: 77, 2: 78}\n    for n in table:\n        assert f(n) == table[n]",
        "[1, 2]",
        "77",
    ),
    "two tables": (
        "for n, want in zip([1, 2], [77, 78]):\n        assert f(n) == want",
        "[(1, None), (2, None)]",
        "77",
    ),
    "a case that is a dictionary": (
        "for case in [{'given': 1, 'want': 77}]:\n        assert f(case['given']) == case['want']",
        "'given': 1",
        "77",
    ),
    "a case that is a record": (
        "class Case:\n        given: int\n        want: int\n    def run(case):\n"
        "        return f(case.given)\n    case = Case(1, 77)\n    assert run(case) == case.want",
        "(1, None)",
        "77",
    ),
    "a list of input and answer": (
        "items = [1, 77]\n    assert f(items[0]) == items[1]",
        "[1, None]",
        "77",
    ),
    "a table that a comprehension goes through": (
        "table = [(1, 77), (2, 78)]\n    assert all(f(n) == want for n, want in table)",
        "[(1, None), (2, None)]",
        "77",
    ),
    "many arguments of a helper": (
        "def check(*given):\n        assert f(given[0]) == given[1]\n    check(1, 77)",
        "(1, None)",
        "77",
    ),
    "a reference": ("assert f(4) == sum(n for n in range(77))", "f(4)", "77"),
}


@pytest.mark.parametrize(("body", "has", "has_not"), CROSSING.values(), ids=CROSSING)
def test_what_crosses(body: str, has: str, has_not: str) -> None:
    found = plan(f"def test_it():\n    {body}\n")
    assert not found.not_observable
    assert has in found.scenario
    assert has_not not in found.scenario
    assert has_not in found.judge


def test_parametrized_columns_that_are_expected_stay_behind() -> None:
    found = plan(
        '@pytest.mark.parametrize(("n", "want"), [(1, 77), pytest.param(2, 78, id="seventy")])\n'
        "def test_it(n, want):\n    assert f(n) == want\n"
    )
    assert "[(1, None), (2, None)]" in found.scenario
    assert "[(1, 77), (2, 78)]" in found.judge


def test_constants_of_the_file_stay_behind_where_only_expected_sides_use_them() -> None:
    found = plan(
        "CASES = [(1, 77), (2, 78)]\nWANT = 79\n\n"
        "@pytest.mark.parametrize(('n', 'want'), CASES)\n"
        "def test_it(n, want):\n    assert f(n) == want\n\n"
        "def test_other():\n    assert f(3) == WANT\n"
    )
    assert not any(word in found.scenario for word in ("77", "78", "79", "CASES", "WANT"))


def test_fixtures_are_written_out() -> None:
    found = plan(
        "@pytest.fixture\ndef store():\n    made = Store()\n    made.put('a', 1)\n    yield made\n"
        "    made.close()\n\n"
        "def test_it(store):\n    assert store.get('a') == 78\n"
    )
    assert not found.not_observable
    assert "lambda: Store()" in found.scenario
    assert "store.get('a')" in found.scenario
    assert "78" not in found.scenario


def test_parameters_of_a_fixture_are_a_table() -> None:
    found = plan(
        "@pytest.fixture(params=[1, 2], ids=['one', 'two'])\ndef size(request):\n"
        "    return request.param * 10\n\n"
        "@pytest.fixture\ndef store(size):\n    return Store(size)\n\n"
        "@pytest.mark.parametrize('n', [3, 4])\n"
        "def test_it(store, size, n):\n    assert store.get(n) != 77\n"
    )
    assert not found.not_observable
    assert "(('param__size',), [(row,) for row in [1, 2]])" in found.scenario
    assert "size = param__size * 10" in found.scenario


def test_items_of_an_object_cross_in_whatever_order() -> None:
    found = plan(
        "def test_it():\n    store = Store()\n    assert list(reversed(store)) == [77, 66]\n"
    )
    assert not found.not_observable
    assert "lambda: reversed(store), 'iterable')" in found.scenario


def test_what_a_method_of_an_object_gives_is_asked_as_one() -> None:
    found = plan(
        "def rows(store):\n    return [*store]\n\n"
        "def test_it():\n    store = Store()\n"
        "    assert asdict(store.copy()) == {'a': 77}\n    assert rows(store + store) == [66]\n"
    )
    assert not found.not_observable
    assert "lambda: asdict(store.copy()))" in found.scenario
    assert "(store + store))" in found.scenario


def test_functions_that_a_decorator_is_given_are_inputs() -> None:
    found = plan(
        "def test_it():\n    @f(check=lambda n: n > 5)\n    def own(n):\n        return n\n\n"
        "    assert own(7) == 77\n"
    )
    assert not found.not_observable
    assert "n > 5" in found.scenario
    assert "77" not in found.scenario
    noted = plan(
        "def test_it():\n    seen = []\n\n    @f(check=lambda n: seen.append(n == 77))\n"
        "    def own(n):\n        return n\n\n    own(7)\n    assert seen == [True]\n"
    )
    assert [item.reason for item in noted.not_observable] == [
        "own() decides something by what the code says"
    ]


def test_indirect_parameters_reach_their_fixture() -> None:
    found = plan(
        "@pytest.fixture(params=[7])\ndef store(request):\n    return Store(request.param)\n\n"
        "@pytest.mark.parametrize('store, want', [(1, 55), (2, 66)], indirect=['store'])\n"
        "def test_it(store, want):\n    assert store.get(3) == want\n"
    )
    assert not found.not_observable
    assert "(('param__store', 'want'), [(1, None), (2, None)])" in found.scenario
    assert "Store(param__store)" in found.scenario
    assert "55" not in found.scenario


def test_what_a_function_has_captured_is_changed_for_it() -> None:
    found = plan(
        "def test_it():\n    now = 10\n    other = 20\n    store = Store(lambda: now)\n"
        "    now = 30\n    other = 40\n    assert store.get() == 77\n    assert other == 40\n"
    )
    assert not found.not_observable
    assert "now = 10" in found.scenario
    assert "now = 30" in found.scenario
    assert "other" not in found.scenario


def test_decorators_of_mock_are_blocks() -> None:
    found = plan(
        "@pytest.fixture\ndef size():\n    return 5\n\n"
        "@mock.patch.dict('os.environ', {'A': '1'})\n@patch('time.time', return_value=2)\n"
        "@mock.patch.object(Store, 'put')\n@patch('m.X', 3)\n"
        "def test_it(put, clock, size):\n    assert f(size) == 77\n"
        "    clock.assert_called_once_with()\n    put.assert_not_called()\n",
        HEAD + "from unittest import mock\nfrom unittest.mock import patch\n",
    )
    assert not found.not_observable
    for text in ("patch('time.time', return_value=2)) as clock:", "'put')) as put:", "size = 5"):
        assert text in found.scenario
    assert "77" not in found.scenario


STARS = """
import unittest
from m import Store, f

class TestStore(unittest.TestCase):
    def setUp(self):
        self.store = Store()

    def look(self, want, *given, **more):
        self.assertEqual(self.store.get(*given, **more), want)

    def test_it(self):
        self.look(77, 1, 2, key=3)

    def test_client(self):
        self.assertEqual(f(self.client), 77)

    def test_cleanup(self):
        self.addCleanup(self.store.close)
        self.look(77, 1)
"""


def test_methods_with_stars_are_written_out_and_unknown_attributes_refused() -> None:
    found = build_scenarios(STARS, "m", CODE)
    lines = [line.strip() for line in found.scenario.splitlines()]
    assert "given__call1 = (1, 2)" in lines
    assert "more__call1 = {'key': 3}" in lines
    assert "77" not in found.scenario
    assert [(item.test, item.reason) for item in found.not_observable] == [
        ("TestStore::test_client", "self.client has no known value"),
        ("TestStore::test_cleanup", "self.addCleanup"),
    ]


def test_other_uses_of_a_request_are_refused() -> None:
    found = plan(
        "@pytest.fixture\ndef size(request):\n    return request.node.name\n\n"
        "def test_it(size):\n    assert f(size) == 77\n"
    )
    assert [item.reason for item in found.not_observable] == ["fixture size that uses its request"]


CONFTEST = """
from __future__ import annotations
from m import Store


@pytest.fixture
def store():
    return Store()
"""


def test_fixtures_of_a_conftest_are_written_out() -> None:
    tests = HEAD + "def test_it(store):\n    assert store.get('a') == 78\n"
    assert build_scenarios(tests, "m", CODE).scenarios == ()
    found = build_scenarios(tests, "m", CODE, conftest=CONFTEST)
    assert "lambda: Store()" in found.scenario
    assert "78" not in found.scenario
    assert [(item.test, item.line) for item in found.scenarios] == [("test_it", 4)]


def test_what_cannot_be_observed_in_a_conftest_has_the_line_of_the_test() -> None:
    tests = HEAD + "def test_it(store):\n    assert store.get('a') == 78\n"
    decides = CONFTEST.replace("return", "if f(1):\n        pass\n    return")
    found = build_scenarios(tests, "m", CODE, conftest=decides)
    assert [(i.line, i.reason) for i in found.not_observable] == [(4, "If statement")]


def test_a_conftest_with_names_of_the_tests_is_left_out() -> None:
    tests = HEAD + "SIZE = 1\n\ndef test_it():\n    assert f(SIZE) == 78\n"
    found = build_scenarios(tests, "m", CODE, conftest="SIZE = 2\n")
    assert found == build_scenarios(tests, "m", CODE)


SHAPES = """
from abc import ABC
from dataclasses import dataclass
from typing import Protocol

class HasArea(Protocol): ...
class Shape(ABC):
    def name(self): ...
    known: dict = {}
@dataclass
class Named:
    name: str
@dataclass
class Circle(Shape):
    radius: int
@dataclass
class Person(Named):
    age: int
def largest(*args): ...
"""


def test_a_record_may_have_a_base_that_is_none() -> None:
    symbols = {name: item.kind for name, item in read_symbols(SHAPES).items()}
    assert symbols == {"Shape": "class", "Named": "record", "Circle": "record", "Person": "class"}


def test_flags_have_the_numbers_of_their_members() -> None:
    code = (
        "class A(Flag):\n    NO = 0\n    X = auto()\n    Y = enum.auto()\n    XY = X | Y\n    Z = auto()\n"
        "class B(IntFlag):\n    X = 4\n    Y = f()\n"
        "class C(Flag):\n    X = 1\n    def __or__(self, other): return self\n"
    )
    found = read_symbols(code)
    numbers = (("NO", "0"), ("X", "1"), ("Y", "2"), ("XY", "3"), ("Z", "4"))
    assert (found["A"].kind, found["A"].fields) == ("flag", numbers)
    assert (found["B"].kind, found["B"].fields) == ("flag", (("X", "4"), ("Y", "")))
    assert found["C"].kind == "enum"
    tests = "from m import Circle, largest\n\ndef test_it():\n    assert largest(1) == Circle(77)\n"
    found = build_scenarios(tests, "m", SHAPES)
    assert "77" not in found.scenario
    assert "Circle(77)" in found.judge


def test_names_of_what_a_test_defines_are_neutral() -> None:
    found = plan(
        "class Server:\n    pass\n\n"
        "def test_it():\n    def handle(): ...\n    assert f(Server(), handle) == 'Server'\n\n"
        "def test_other():\n    def check(x):\n        assert x\n    check(f(1))\n"
    )
    assert "f(definition__0(), definition__1)" in found.scenario
    assert "class Server:" in found.judge
    assert "'definition__0': 'Server'" in found.judge
    assert not found.not_observable


CHECK = """
def check(given, want, *, more=5):
    found = f(given)
    assert found == want
    assert f(more) != want


"""
# Each: statements of a test, and what its scenario has, with a helper that asserts.
WRITTEN_OUT = {
    "constants": ("check(1, 77)", ("given__call1 = 1", "more__call1 = 5")),
    "by name": ("check(want=77, given=2, more=3)", ("given__call1 = 2", "more__call1 = 3")),
    "variables": ("given = [1]\n    want = [77]\n    check(given, want)", ("= [1]", "= given")),
    "twice": ("check(1, 77)\n    check(2, 78)", ("__call1 = 1", "__call2 = 2")),
    "a loop": (
        "for n, want in [(1, 77), (2, 78)]:\n        check(n, want)",
        ("in [(1, None), (2, None)]",),
    ),
    "a block": ("with Store() as s:\n        check(s, 77)", ("Store()", "f(given")),
    "of the test": (
        "seen = []\n    def look(n):\n        assert seen == [n]\n    f(seen)\n    look(77)",
        ("f(seen)", "lambda: seen"),
    ),
    "of a helper": (
        "def look(want):\n        check(1, want)\n        assert f(2)\n    look(77)",
        ("given__call2 = 1", "f(2)"),
    ),
}


@pytest.mark.parametrize(("body", "has"), WRITTEN_OUT.values(), ids=WRITTEN_OUT)
def test_helpers_that_assert_are_written_out(body: str, has: tuple[str, ...]) -> None:
    found = plan(f"{CHECK}def test_it():\n    {body}\n")
    assert not found.not_observable
    for text in has:
        assert text in found.scenario
    assert "7" not in found.scenario
    assert "== " in found.judge


def test_an_argument_may_be_input_and_expected() -> None:
    found = plan("def same(x):\n    assert f(x) == x\n\ndef test_it():\n    same(77)\n")
    assert not found.not_observable
    assert "77" in found.scenario


# Each: definitions before a test that calls `check(1, 77)` or `self.check(1, 77)`.
NOT_WRITTEN_OUT = {
    "a result": "def check(given, want):\n    assert f(given) == want\n    return want\n",
    "itself": "def check(given, want):\n    assert f(given) == want\n    check(given, want)\n",
    "a decorator": "@f\ndef check(given, want):\n    assert f(given) == want\n",
    "a name of the test": ("n = 2\ndef check(given, want):\n    assert f(given, n) == want\n"),
}


@pytest.mark.parametrize("helper", NOT_WRITTEN_OUT.values(), ids=NOT_WRITTEN_OUT)
def test_other_helpers_that_assert_are_refused(helper: str) -> None:
    found = plan(f"{helper}\ndef test_it():\n    n = 3\n    f(n)\n    check(1, 77)\n")
    assert [item.test for item in found.not_observable] == ["test_it"]
    assert "77" not in found.scenario


METHODS = """
import unittest
from m import Store, f

class TestStore(unittest.TestCase):
    def setUp(self):
        self.log = []

    def make(self, name):
        def note(*given):
            self.log.append((name, *given))
        return note

    def two(self):
        return self.make("a"), self.make("b")

    def check(self, given, want):
        self.assertEqual(f(given, self.make("c")), want)
        self.assertEqual(self.log, [("c", want)])

    def set(self):
        self.log = [1]

    def test_made(self):
        f(*self.two())
        self.assertEqual(self.log, [("a", 77)])

    def test_asserted(self):
        self.check(1, 77)

    def test_set(self):
        self.set()
        self.assertEqual(f(self.log), 77)
"""


def test_methods_of_test_classes_become_functions() -> None:
    found = build_scenarios(METHODS, "m", CODE)
    assert [item.test for item in found.scenarios] == [
        "TestStore::test_made",
        "TestStore::test_asserted",
    ]
    assert [(item.test, item.reason) for item in found.not_observable] == [
        ("TestStore::test_set", "a method of the test class")
    ]
    for word in ("77", "two", "make", "check"):
        assert word not in found.scenario
    assert "self__make" in found.judge
    ast.parse(found.judge)


def test_classes_of_unittest_are_written_out() -> None:
    found = build_scenarios(
        "import unittest\nfrom m import Store\n\nclass TestStore(unittest.TestCase):\n"
        "    LIMIT = 77\n\n    def setUp(self):\n        self.store = Store()\n\n"
        "    def test_get(self):\n        self.assertEqual(self.store.get('a'), self.LIMIT)\n"
        "        with self.assertRaises(KeyError):\n            self.store.get('b')\n",
        "m",
        CODE,
    )
    assert [item.test for item in found.scenarios] == ["TestStore::test_get"]
    assert "LIMIT" not in found.scenario
    assert "77" not in found.scenario


REFUSED = {
    "if f(1) > 3:\n        assert f(2) == 4": "If statement",
    "while f(1):\n        pass": "While statement",
    "for item in f(1):\n        assert item > 77": "a loop over values of the code",
    "for n, want in map(divmod, [1, 2], [77, 78]):\n        assert f(n) == want": (
        "a computed table of inputs and expected values"
    ),
    "for case in [f'{77}']:\n        assert f(case[0]) == case[1]": (
        "a value of which only a part is an input"
    ),
    "check = lambda value: value == 77\n    f(check(f(1)))": (
        "a comparison that would run beside the code"
    ),
    "def check(value):\n        assert value == 77\n        return 1\n    f(check(f(1)))": (
        "check() asserts where it is called"
    ),
    "f(1).assert_has_calls([77])": "an assertion of another object",
    "with pytest.raises(TypeError):\n        Store() == 77": (
        "a comparison that would run beside the code"
    ),
    "with pytest.raises(TypeError):\n        f(1) < 77": (
        "a comparison that would run beside the code"
    ),
    "Store() < 77": "a comparison that would run beside the code",
    "def double(x): ...\n    f(double)\n    assert f('double') == 77": (
        "the code gets double and its name"
    ),
    "f(f(1) == 3)": "a comparison that would run beside the code",
    "same = f(1) == 77\n    assert same": "a comparison that would run beside the code",
    "rest = f(1) - 77.5\n    assert rest == 0": "an expected value would reach the code",
    "items, want = [], 77\n    items.append(want)\n    items.append(f(1))\n"
    "    assert items[0] == items[1]": "an expected value would reach the code",
    "got = {}\n    for n, key in [(1, '77')]:\n        got[key] = f(n)\n"
    "    assert got == {'77': 3}": "an expected value would reach the code",
    "for n, want in sorted({2: 78, 1: 77}.items()):\n        assert f(n) == want": (
        "a computed table of inputs and expected values"
    ),
    "seen = []\n    f(lambda v: seen.append(v == 3))\n    assert seen == [True]": (
        "a comparison that would run beside the code"
    ),
    "info = pytest\n    f(info)": "info is used together with the code",
    "pytest.skip('later')": "the test does not use the module",
    "assert 1 == 1": "the test does not use the module",
    "try:\n        f(1)\n    except ValueError:\n        pass": "Try statement",
}


@pytest.mark.parametrize(("body", "reason"), REFUSED.items())
def test_what_is_refused(body: str, reason: str) -> None:
    found = plan(f"def test_it():\n    {body}\n")
    assert [item.reason for item in found.not_observable] == [reason]
    assert found.scenarios == ()


@pytest.mark.parametrize(
    ("decorator", "reason"),
    [
        ("hypothesis.given(st.integers())", "a property-based test"),
        ("other", "decorator other"),
    ],
)
def test_decorators_that_are_refused(decorator: str, reason: str) -> None:
    found = plan(f"@{decorator}\ndef test_it(n):\n    assert f(n) == 1\n")
    assert [item.reason for item in found.not_observable] == [reason]


def test_a_refusal_names_the_line() -> None:
    found = plan("def test_it():\n    assert f(1) == 1\n    if f(2):\n        pass\n")
    assert [(item.test, item.line) for item in found.not_observable] == [("test_it", 6)]


@pytest.mark.parametrize("text", ["def test_(:", "", "x = 1", "(" * 500])
def test_other_texts_give_an_empty_plan(text: str) -> None:
    assert build_scenarios(text, "m", CODE).scenarios == ()


class _Changed(ast.NodeTransformer):
    """Changes the literals that assertions compare with."""

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        node.comparators = [
            ast.Constant("changed") if isinstance(item, ast.Constant) else item
            for item in node.comparators
        ]
        return node


@pytest.mark.parametrize("pair", list(pairs()), ids=lambda pair: pair.name)
def test_a_scenario_is_the_same_whatever_is_expected(pair) -> None:  # type: ignore[no-untyped-def]
    tree = ast.parse(pair.tests)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            node.test = _Changed().visit(node.test)
    changed = ast.unparse(ast.fix_missing_locations(tree))
    first = build_scenarios(ast.unparse(ast.parse(pair.tests)), pair.name, pair.code)
    other = build_scenarios(changed, pair.name, pair.code)
    assert first.scenario == other.scenario
    assert first.scenario.count("observe__(") > 1


def test_tests_without_a_statement_are_rendered_as_they_are() -> None:
    tests = 'def test_a():\n    """Nothing."""\n\ndef test_b():\n    return f(1)\n'
    found = build_whole_tests(HEAD + tests, "m", CODE)
    compile(found.text, "tests", "exec")
    assert set(found.tests) == {"test_a", "test_b"}
