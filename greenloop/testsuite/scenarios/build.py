"""Plans of the text of a test file."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import MappingProxyType

from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.scenarios.module_symbols import ClassSymbol, read_symbols
from greenloop.testsuite.scenarios.planner import Planner
from greenloop.testsuite.scenarios.reading.test_module import read_conftest
from greenloop.testsuite.scenarios.records import ScenarioFile, WholeFile

_NO_CLASSES: Mapping[str, ClassSymbol] = MappingProxyType({})
_NOTHING = ScenarioFile("scenarios = []\n", "judges = []\n", (), ())


def build_scenarios(
    tests: str,
    module: str,
    code: str,
    imported: Mapping[str, ClassSymbol] = _NO_CLASSES,
    conftest: str = "",
) -> ScenarioFile:
    """Return what can be observed of a test file, and what cannot.

    `module` is the name of the module under test, `code` its source, from which only the forms of
    its classes are read; `imported` are the classes that it has from other modules of its project.
    `conftest` has the fixtures that the file shares with others. Tests that cannot be parsed give
    an empty plan.
    """
    with contextlib.suppress(RecursionError):
        if planner := _read(tests, module, code, imported, conftest):
            return planner.plan()
    return _NOTHING


def build_whole_tests(
    tests: str,
    module: str,
    code: str,
    imported: Mapping[str, ClassSymbol] = _NO_CLASSES,
    conftest: str = "",
) -> WholeFile:
    """Return the tests as they are for a process without pytest; the arguments are the same."""
    with contextlib.suppress(RecursionError):
        if planner := _read(tests, module, code, imported, conftest):
            return planner.render_whole()
    return WholeFile(_NOTHING.scenario, ())


def _read(
    tests: str, module: str, code: str, imported: Mapping[str, ClassSymbol], conftest: str
) -> Planner | None:
    tree = parse_or_none(tests)
    if tree is None:
        return None
    tree.body += read_conftest(conftest, tests)
    return Planner(tree, module, {**imported, **read_symbols(code)})
