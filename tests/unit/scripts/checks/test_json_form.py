"""Parsing of checks that a model proposes."""

from typing import Any

import pytest

from greenloop.scripts.checks.json_form import MAX_CHECKS, checks_from_json
from tests.support.programs import read_table


def ids(*items: Any) -> list[str]:
    return [item.id for item in checks_from_json(list(items))]


@pytest.mark.parametrize(
    ("item", "names"),
    read_table(__file__, "VALID"),
)
def test_valid_items_are_parsed(item: dict[str, Any], names: list[str]) -> None:
    assert ids(item) == names
    assert all(check.origin == "generated" for check in checks_from_json([item]))


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ("prints Total", "check 1: it must be one of"),
        ({}, "is not a kind of check"),
        ({"check": "stderr", "contains": "a"}, "'stderr' is not a kind of check"),
        ({"check": "file"}, "names no file"),
        ({"check": "file", "path": "/tmp/x"}, "inside the working folder"),
        ({"check": "file", "path": "x", "rows": "some"}, "whole number"),
        ({"check": "file", "path": "x", "rows": True}, "whole number"),
        ({"check": "file", "path": "x", "rows": -1}, "whole number"),
        ({"check": "stdout", "contains": ""}, "is empty"),
        ({"check": "stdout", "contains": {"a": 1}}, "must be a text"),
        ({"check": "stdout", "matches": "("}, "not a regular expression"),
        ({"check": "stdout", "contains": "x" * 600}, "telling part"),
        ({"check": "stdout", "json": "perhaps"}, "true or false"),
        ({"check": "exit", "status": 2}, "only exit status 0"),
    ],
)
def test_ambiguous_items_are_rejected(item: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        checks_from_json([item])


def test_invalid_item_is_named() -> None:
    with pytest.raises(ValueError, match="check 2"):
        checks_from_json([{"check": "silent"}, {"check": "no"}])


def test_silence_and_output_contradict_each_other() -> None:
    with pytest.raises(ValueError, match="contradict"):
        checks_from_json([{"check": "silent"}, {"check": "stdout", "contains": "a"}])
    assert len(ids({"check": "silent"}, {"check": "file", "path": "x"})) == 2


def test_number_of_checks_is_limited() -> None:
    assert len(ids(*({"check": "stdout", "contains": f"{n}"} for n in range(50)))) == MAX_CHECKS


def test_other_values_than_lists_are_rejected() -> None:
    with pytest.raises(ValueError, match="must be a JSON list"):
        checks_from_json({"check": "silent"})  # type: ignore[arg-type]
