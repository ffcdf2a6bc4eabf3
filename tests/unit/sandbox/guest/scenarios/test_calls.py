"""Precondition of a second reading: it is asked before calls of functions, classes and methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from greenloop.sandbox.guest.scenarios.inputs.calls import Calls, InputNotAllowed

MODULE = """class Hall:
    def __init__(self, rows, clock=None):
        self.rows = rows

    def book(self, seat):
        return self._name(seat)

    def book_all(self):
        return self.book("")

    def _name(self, seat):
        return seat
"""
ALLOWED = """def allowed(name, *arguments):
    return arguments in {"Hall": [([1], None)], "book": [("A1",)], "book_all": [()]}.get(name, [])
"""


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "hall_of_calls.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    calls = Calls(lambda *_: None, repr, "hall_of_calls", ALLOWED, ("Hall",))
    return calls.guard("Hall")


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
