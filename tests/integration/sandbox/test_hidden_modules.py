"""The standard library in a process whose loaded modules are hidden until code imports them."""

from __future__ import annotations

import builtins
from typing import Any

from greenloop.grading.observation.values import encode
from greenloop.grading.peer.answers import is_strictly_equal
from greenloop.sandbox import Sandbox
from tests.support.programs import read_program

# Each imports what it needs when it is called. Code in C looks up modules without an import.
LIBRARY = read_program(__file__, "LIBRARY")


def test_library_gives_the_same_results_as_in_an_ordinary_program(box: Sandbox) -> None:
    here: dict[str, Any] = {}
    exec(LIBRARY, here)
    names = [name for name in here if name not in vars(builtins) and name != "name_of_error"]
    names = [name for name in names if callable(here[name])]
    assert len(names) > 20
    expected = {name: here[name]() for name in names}
    results = box.evaluate_calls(LIBRARY, "m", [f"{name}()" for name in names])
    found = {
        name: event["value"] if event and "value" in event else event
        for name, event in zip(names, results.events, strict=True)
    }
    differing = [n for n in names if not is_strictly_equal(encode(expected[n]), found[n])]
    assert differing == []


def test_modules_are_hidden_until_they_are_imported(box: Sandbox) -> None:
    code = (
        "import sys\n"
        "def loaded(name): return name in sys.modules\n"
        "def load(name): return bool(__import__(name))\n"
    )
    calls = ["loaded('json')", "load('json')", "loaded('json')", "loaded('json.decoder')"]
    results = box.evaluate_calls(code, "m", calls)
    values = [event["value"] for event in results.events if event is not None]
    assert values == [False, True, True, True]
