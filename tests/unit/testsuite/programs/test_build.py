"""Programs of tests: what reaches the process of the code, and what stays on the host."""

import ast
import textwrap
import tracemalloc

import pytest

from greenloop.testsuite.programs import ProgramFile, build_programs
from greenloop.testsuite.programs.literals import read_value
from tests.support.programs import read_table

HEAD = "import math\nimport pytest\nfrom m import f, g, Point\n\n"


def build(body: str, conftest: str = "") -> ProgramFile:
    return build_programs(HEAD + textwrap.dedent(body), "m", conftest)


def build_test(body: str) -> tuple[str, list[tuple[int, str, object]]]:
    """Return the statements of the program of one test, and what is expected by numbers."""
    found = build("def test_it():\n" + textwrap.indent(textwrap.dedent(body).strip(), "    "))
    assert found.not_observed == ()
    (program,) = found.programs
    lines = found.text[found.text.index("def program_0") :].split("\nprograms")[0].split("\n")[1:]
    expected = [(i.number, i.kind, i.expected) for i in program.expectations]
    return textwrap.dedent("\n".join(lines)), expected


@pytest.mark.parametrize(("body", "text", "expected"), read_table(__file__, "OBSERVED"))
def test_what_is_observed_and_what_is_expected(body: str, text: str, expected: str) -> None:
    found, expectations = build_test(body)
    assert (found, str(expectations)) == (text, expected)


@pytest.mark.parametrize(("body", "reason"), read_table(__file__, "REFUSED"))
def test_other_forms_are_refused_with_their_line(body: str, reason: str) -> None:
    found = build("def test_it(capsys):\n" + textwrap.indent(body, "    "))
    assert found.programs == ()
    (refused,) = found.not_observed
    assert (refused.test, refused.reason) == ("test_it", reason)
    assert refused.line >= 5


def test_rows_fixtures_and_helpers_are_written_out() -> None:
    found = build("""
        @pytest.fixture
        def base():
            return Point(1)

        def check(got, want):
            assert got == want

        @pytest.mark.parametrize("n, want", [(1, "a"), (2, "b")])
        def test_rows(base, n, want):
            check(f(base, n), want)

        class TestMore:
            def setup_method(self):
                self.x = f(0)

            def test_self(self, tmp_path):
                assert self.x == 5
        """)
    assert found.not_observed == ()
    assert [item.test for item in found.programs] == [
        "test_rows",
        "test_rows",
        "TestMore::test_self",
    ]
    assert found.programs[2].fixtures == ("tmp_path",)
    values = [[i.expected for i in item.expectations] for item in found.programs]
    assert values == [["a"], ["b"], [5]]
    assert '"a"' not in found.text.replace("'", '"')
    assert "def made__base():\n    return Point(1)" in found.text
    assert "pytest" not in found.text


@pytest.mark.parametrize(("classes", "reason"), read_table(__file__, "CLASSES"))
def test_a_copy_of_a_test_has_the_setup_of_its_bases_or_is_not_made(
    classes: str, reason: str
) -> None:
    found = build(f"from unittest import TestCase\n{classes}\n")
    assert [item.reason for item in found.not_observed] == [reason] * bool(reason)
    assert reason or "self.setUp()" in found.text or "await self.asyncSetUp()" in found.text


@pytest.mark.parametrize(("head", "reason"), read_table(__file__, "DECORATORS"))
def test_decorators_that_change_more_are_refused(head: str, reason: str) -> None:
    found = build(head + "def test_it(capsys):\n    assert f(1) == 1\n")
    assert [item.reason for item in found.not_observed] == [reason]


def test_statements_that_need_pytest_are_left_out_of_the_preamble() -> None:
    found = build(
        "def test_one():\n    assert f(1) == 2\n",
        "import pytest\ntry:\n    import x\nexcept ImportError:\n    @pytest.fixture\n"
        "    def x(): ...\npytest.register_assert_rewrite('y')\nseed(1)\n",
    )
    assert len(found.programs) == 1
    assert "pytest" not in found.preamble
    assert "seed(1)" in found.preamble


def test_a_copy_has_the_names_of_setup_calls_and_its_future_imports_first() -> None:
    tests = "from __future__ import annotations\nfrom m import f\nSEED = 3\nseed(SEED)\n"
    tests += "def test_it():\n    assert f(1) == 2\n"
    preamble = build_programs(tests, "m", "import sys").preamble
    assert preamble.startswith("from __future__")
    assert "SEED = 3\nseed(SEED)" in preamble


def test_fixtures_of_a_conftest_are_used() -> None:
    shared = "import pytest\n\n@pytest.fixture\ndef size():\n    return 3\n"
    found = build("def test_it(size):\n    assert f(size) == 9\n", shared)
    assert "size = 3\n    see__(1, f(size))" in found.text


def test_what_does_not_parse_has_no_programs() -> None:
    assert build_programs("def", "m") == ProgramFile()


def test_inherited_tests_are_observed_in_each_class() -> None:
    found = build("""
        class Shared:
            def test_it(self):
                assert self.make(1) == 1

        class TestF(Shared):
            make = staticmethod(f)
    """)
    assert [item.test for item in (*found.programs, *found.not_observed)] == ["TestF::test_it"]


@pytest.mark.parametrize("text", ["list(range(10**6))", "bytes(10**7)"])
def test_a_large_value_of_a_test_is_not_built_on_the_host(text: str) -> None:
    tracemalloc.start()
    assert read_value(ast.parse(text, mode="eval").body) == ()
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
