"""Parsing of checks from command-line options."""

import pytest

from greenloop.errors import InputError
from greenloop.records.script_result import OutputCheck
from greenloop.scripts.checks.factories import complete_checks
from greenloop.scripts.checks.options import (
    parse_expect,
    parse_expect_file,
)
from tests.support.programs import read_table


def ids(text: str) -> list[str]:
    return [item.id for item in parse_expect_file(text)]


@pytest.mark.parametrize(
    ("text", "name", "kind", "asked"),
    [
        ("Total", "prints 'Total'", "holds", "Total"),
        ("/", "prints '/'", "holds", "/"),
        ("/usr", "prints '/usr'", "holds", "/usr"),
        (r"/^\d+$/", r"prints /^\d+$/", "matches", r"^\d+$"),
        ("two\nlines", r"prints 'two\nlines'", "holds", "two\nlines"),
    ],
)
def test_text_or_regular_expression(text: str, name: str, kind: str, asked: str) -> None:
    check = parse_expect(text)
    assert (check.id, check.kind, check.text, check.origin) == (name, kind, asked, "given")


@pytest.mark.parametrize("text", ["", "  \n", "//", "/(/", "/*a/", "/" + "a" * 2000 + "/"])
def test_empty_expectation_is_rejected(text: str) -> None:
    with pytest.raises(InputError, match="--expect"):
        parse_expect(text)


@pytest.mark.parametrize(
    ("text", "names"),
    read_table(__file__, "PARTS"),
)
def test_file_with_parts(text: str, names: list[str]) -> None:
    assert ids(text) == names


def test_columns_with_commas_are_quoted_as_in_a_csv() -> None:
    assert parse_expect_file('t.csv:csv="a, b", c')[1].columns == ("a, b", "c")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no path"),
        (":json", "no path|'json' cannot be|no file"),
        ("/etc/passwd", "inside the working folder"),
        ("../out", "inside the working folder"),
        ("t.csv:rows=", "whole number"),
        ("t.csv:rows=-1", "whole number"),
        ("t.csv:rows=many", "whole number"),
        ("t.csv:row=3", "did you mean rows"),
        ("t.csv:nonempty", "did you mean non-empty"),
        ("t.csv:columns=a,b", "cannot be checked"),
        ("t.csv:csv=", "name each column"),
        ("t.csv:csv=a,,b", "name each column"),
    ],
)
def test_invalid_file_expectation_explains_the_syntax(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_expect_file(text)


def test_completed_checks_start_with_status_and_have_unique_ids() -> None:
    given, generated = parse_expect("a"), parse_expect("a").model_copy(
        update={"origin": "generated"}
    )
    checks = complete_checks([generated, given], requires_output=True)
    assert [item.id for item in checks] == ["exits with status 0", "prints something", "prints 'a'"]
    assert all(item.origin == "given" for item in checks)
    assert [item.id for item in complete_checks([], requires_output=False)] == [
        "exits with status 0"
    ]


def test_long_ids_are_truncated_and_unique() -> None:
    one, two = parse_expect("x" * 300 + "1"), parse_expect("x" * 300 + "2")
    assert one.id != two.id
    assert len(one.id) < 90


def test_check_round_trips_through_json() -> None:
    for check in (*parse_expect_file("t.csv:rows=3:csv=a,b"), parse_expect("/a/")):
        assert OutputCheck.model_validate_json(check.model_dump_json()) == check
        assert str(check)
