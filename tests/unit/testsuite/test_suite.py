"""The suite: lookup, origins, dropped and revealed tests."""

import ast

import pytest

from greenloop.records import HeldOutExample
from greenloop.testsuite import Suite, TestFile
from tests.support.programs import read_program

GENERATED = (
    "import pytest\nfrom m import f\n\n\n"
    '@pytest.mark.parametrize("n", [1, 2])\ndef test_a(n):\n    """R1: a."""\n    assert f(n)\n\n\n'
    'class TestB:\n    def test_c(self):\n        """R2: c."""\n        assert f(3)\n'
)
EXAMPLES = "def test_specification_example_1():\n    assert True\n"
GIVEN = "def test_a():\n    assert 'mine'\n\n\ndef test_own():\n    pass\n"
HELD_OUT = (
    HeldOutExample(requirement="R3", call="f(1)", returns="1"),
    HeldOutExample(call="f(-1)", raises="ValueError"),
)


@pytest.fixture
def suite() -> Suite:
    return Suite(
        module="m",
        generated=GENERATED,
        examples=EXAMPLES,
        user_files=(TestFile("test_given.py", GIVEN, locked=True),),
        held_out=HELD_OUT,
    )


def test_files_are_the_generated_and_the_user_files(suite: Suite) -> None:
    assert [item.name for item in suite.files] == ["test_m.py", "test_given.py"]
    assert suite.files[0].code == suite.code
    assert suite.code.index("test_a") < suite.code.index("test_specification_example_1")
    ast.parse(suite.code)


def test_suite_without_own_tests_has_no_own_file() -> None:
    assert Suite(module="m").files == ()


def test_generated_file_name_differs_from_user_files() -> None:
    given = (TestFile("test_m.py", GIVEN, locked=True),)
    suite = Suite(module="m", generated=GENERATED, user_files=given)
    assert suite.file_name not in {item.name for item in given}
    assert len({item.name for item in suite.files}) == 2


@pytest.mark.parametrize(
    ("test", "origin", "requirements"),
    [
        ("test_m.py::test_a[1]", "generated", ("R1",)),
        ("test_m.py::TestB::test_c", "generated", ("R2",)),
        ("TestB::test_c", "generated", ("R2",)),
        ("test_c", "generated", ("R2",)),
        ("test_given.py::test_a", "given", ()),
        ("test_own", "given", ()),
        ("test_specification_example_1", "example", ()),
    ],
)
def test_test_is_found_by_id_or_name(
    suite: Suite, test: str, origin: str, requirements: tuple[str, ...]
) -> None:
    assert suite.origin(test) == origin
    assert suite.requirements(test) == requirements
    assert suite.may_be_disputed(test) is (origin != "given")
    assert test.split("::")[-1].split("[")[0] in suite.source(test)


def test_user_file_skipped_as_a_whole_has_origin_given(suite: Suite) -> None:
    assert suite.origin("test_given.py") == "given"
    assert suite.origin("test_m.py") == "generated"
    assert not suite.may_be_disputed("test_given.py")


def test_id_selects_among_tests_of_the_same_name(suite: Suite) -> None:
    assert "mine" in suite.source("test_given.py::test_a")
    assert "mine" not in suite.source("test_m.py::test_a")


@pytest.mark.parametrize("test", ["test_nowhere", "test_m.py::test_nowhere", ""])
def test_unknown_test_is_not_found(suite: Suite, test: str) -> None:
    assert suite.find(test) is None
    assert (suite.source(test), suite.requirements(test)) == ("", ())
    assert not suite.may_be_disputed(test)
    assert suite.drop(test, "why", disputed=True) is suite


def test_ambiguous_method_name_is_not_found() -> None:
    code = "".join(f"class Test{n}:\n    def test_x(self): pass\n" for n in "AB")
    assert Suite(module="m", generated=code).find("test_x") is None


def test_examples_are_appended_with_their_imports() -> None:
    examples = "import sys\nimport pytest\n\nfrom m import f, g\n\n\ndef test_specification_example_1():\n    f()\n"
    own = '"""Doc."""\nimport pytest\n\nfrom m import f\n\n\ndef test_a():\n    f()\n'
    assert Suite(module="m", generated=own, examples=examples).code == (
        '"""Doc."""\nimport pytest\n\nfrom m import f\nimport sys\nfrom m import g\n\n\n'
        "def test_a():\n    f()\n\n\ndef test_specification_example_1():\n    f()\n"
    )
    assert Suite(module="m", examples=examples).code == examples


def test_example_imports_what_means_something_else_in_the_file() -> None:
    examples = "from m import m\n\n\ndef test_specification_example_1():\n    m()\n"
    code = Suite(module="m", generated="import m\ndef test_a(): m.m()\n", examples=examples).code
    assert code.endswith("test_specification_example_1():\n    from m import m\n    m()\n")
    assert code.startswith("import m\ndef test_a()")


CONTEXT = read_program(__file__, "CONTEXT")


def test_disputed_test_is_shown_with_what_it_uses() -> None:
    suite = Suite(module="m", generated=CONTEXT)
    method = suite.source_in_context("TestA::test_a")
    for part in ("LIMIT = 3", "# of the limit", "def box", "def clock", "setup_method", "test_a"):
        assert part in method
    for part in ("unused", "test_b", "test_c"):
        assert part not in method
    function = suite.source_in_context("test_c")
    assert "def helper" in function
    assert "TestA" not in function
    assert suite.source_in_context("test_absent") == ""


def test_dropped_test_has_its_reason(suite: Suite) -> None:
    after = suite.drop("test_m.py::test_a[2]", "is wrong", disputed=True)
    (gone,) = after.dropped
    assert (gone.name, gone.requirements, gone.origin) == ("test_a", ("R1",), "generated")
    assert (gone.reason, gone.disputed) == ("is wrong", True)
    assert "def test_a" not in after.generated
    assert "TestB" in after.generated


@pytest.mark.parametrize(
    "test", ["test_given.py::test_a", "test_own", "test_specification_example_1"]
)
def test_locked_test_is_never_dropped(suite: Suite, test: str) -> None:
    assert suite.drop(test, "why", disputed=True) is suite


def test_held_out_examples_are_revealed_as_tests_of_their_requirement(suite: Suite) -> None:
    after = suite.reveal(HELD_OUT[0]).reveal(HELD_OUT[1])
    assert after.held_out == ()
    assert after.origin("test_held_out_example_1") == "held_out"
    assert after.requirements("test_held_out_example_1") == ("R3",)
    assert after.may_be_disputed("test_m.py::test_held_out_example_2")
    ast.parse(after.code)


def test_name_of_a_dropped_revealed_test_is_not_reused(suite: Suite) -> None:
    after = suite.reveal(HELD_OUT[0]).drop("test_held_out_example_1", "wrong", disputed=True)
    assert after.find("test_held_out_example_1") is None
    assert after.dropped[0].origin == "held_out"
    again = after.reveal(HELD_OUT[1])
    assert again.find("test_held_out_example_1") is None
    assert again.find("test_held_out_example_2") is not None
