"""The standard library in a process whose loaded modules are hidden until code imports them."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from greenloop.sandbox import Sandbox
from tests.integration.sandbox.conftest import make_sandbox
from tests.integration.sandbox.test_calls import decode
from tests.support.programs import read_program

# Each imports what it needs when it is called. Code in C looks up modules without an import.
LIBRARY = read_program(__file__, "LIBRARY")


def _plain(value: Any) -> Any:
    """Return a value with lists for tuples."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def test_library_gives_the_same_results_as_in_an_ordinary_program(box: Sandbox) -> None:
    here: dict[str, Any] = {}
    exec(LIBRARY, here)
    names = [name for name in here if name not in vars(builtins) and name != "name_of_error"]
    names = [name for name in names if callable(here[name])]
    assert len(names) > 20
    expected = {name: _plain(here[name]()) for name in names}
    results = box.evaluate_calls(LIBRARY, "m", [f"{name}()" for name in names])
    found = {
        name: _plain(decode(event["value"])) if event and "value" in event else event
        for name, event in zip(names, results.events, strict=True)
    }
    assert found == expected


def test_modules_are_hidden_until_they_are_imported(box: Sandbox) -> None:
    code = (
        "import sys\n"
        "def loaded(name): return name in sys.modules\n"
        "def load(name): return bool(__import__(name))\n"
    )
    calls = ["loaded('json')", "load('json')", "loaded('json')", "loaded('json.decoder')"]
    results = box.evaluate_calls(code, "m", calls)
    values = [decode(event["value"]) for event in results.events if event is not None]
    assert values == [False, True, True, True]


def test_a_module_that_a_run_imports_is_loaded_before(box: Sandbox) -> None:
    if box.info.backend not in ("native", "bubblewrap", "landlock"):
        pytest.skip(f"{box.info.backend} loads the same modules for all runs")
    code = "import sys\nWAS_LOADED = 'sqlite3' in sys.modules\nX = 1\n"
    tests = "import solution\n\n\ndef test_x():\n    assert solution.WAS_LOADED is {}\n"
    with make_sandbox(box.info.backend) as fresh:
        assert fresh.run_tests(code, tests.format(False)).passed
        assert fresh.run_tests(f"{code}import sqlite3\n", tests.format(True)).passed
