"""Precondition of a second implementation: it is asked before calls of functions, classes and methods."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from greenloop.sandbox.guest.observation.inputs.calls import Calls
from greenloop.sandbox.guest.observation.inputs.precondition import InputNotAllowed
from tests.support.programs import read_program

MODULE = read_program(__file__, "MODULE")
ALLOWED = """def allowed(name, *arguments):
    return arguments in {"Hall": [([1], None)], "book": [("A1",)], "book_all": [()]}.get(name, [])
"""


BY_SEQUENCE = """def allowed(name, *arguments, earlier=()):
    seen.append((name, *arguments, *earlier))
    return name == "Hall" or ("book", "A1") not in earlier
seen = []
"""


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return make_hall(tmp_path, monkeypatch, ALLOWED)


def make_hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: str) -> Any:
    (tmp_path / "hall_of_calls.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "hall_of_calls", raising=False)
    return Calls(lambda *_: None, repr, "hall_of_calls", inputs, ("Hall",)).guard("Hall")


def test_what_is_allowed_is_called(hall: Any) -> None:
    assert isinstance(hall, type)
    assert hall([1]).book("A1") == "A1"


def test_what_is_not_allowed_is_refused(hall: Any) -> None:
    with pytest.raises(InputNotAllowed):
        hall([])
    with pytest.raises(InputNotAllowed):
        hall([1]).book("")


def test_calls_of_the_module_itself_are_not_asked_about(hall: Any) -> None:
    assert hall([1]).book_all() == ""


def test_a_call_is_allowed_by_those_before_it_on_the_same_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall = make_hall(tmp_path, monkeypatch, BY_SEQUENCE)
    first, second = hall([1]), hall(rows=[2])
    assert first.book("A1") == "A1"
    assert second.book(seat="B1") == "B1"
    with pytest.raises(InputNotAllowed):
        first.book("B1")
    assert second.book("A1") == "A1"
    with pytest.raises(InputNotAllowed):
        second.book("A1")


def test_it_gets_them_with_their_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [("Hall", [1], None), ("book", "A1", ("Hall", [1], None))]
    inputs = BY_SEQUENCE.replace('name == "Hall" or', f"seen == {wanted}[:len(seen)] and")
    hall = make_hall(tmp_path, monkeypatch, inputs)
    assert hall([1]).book(seat="A1") == "A1"
