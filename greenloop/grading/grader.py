"""Grading: all pieces of evidence for a green test run."""

import pkgutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from greenloop.events import EventSink, ignore_event
from greenloop.grading.collector import BASIC_PIECES, EvidenceCollector, Measurement, describe_load
from greenloop.grading.context import GradingContext, Plan
from greenloop.grading.coverage.measurement import DISTURBED
from greenloop.grading.integrity.issues import find_findings
from greenloop.plugins import list_plugins, load_plugin
from greenloop.records import Evidence, ExtraEvidence, Piece
from greenloop.records.evidence import piece_types
from greenloop.sandbox import Sandbox
from greenloop.syntax.parse import UNREADABLE, parse_or_none
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import find_tested_module
from greenloop.testsuite.parser import parse_test_functions
from greenloop.testsuite.quality_gates import find_returning_tests

# Begun first: the pieces with several runs, and those that show whether anything runs at all.
_FIRST_PIECES = ("mutation", "assertion_mutation", "flakiness", *BASIC_PIECES)
_MAX_CONCURRENT = 2  # more would slow tests down until some reach their time limit


def grade(box: Sandbox, code: str, test_code: str, plan: Plan | None = None) -> Evidence:
    """Return the evidence for any module and pytest file, without a model.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    module = find_tested_module(test_code, box.packages.import_names)
    tests = [TestFile(f"test_{module}.py", test_code)]
    run = box.run_tests(code, tests, module=module)
    return grade_run(GradingContext(box, code, tests, module, run, plan or Plan()))


def forgery(evidence: Evidence) -> str:
    """Return why a green run counts as forged; '' if nothing shows a forgery."""
    return evidence.forgery()


def shortfalls(evidence: Evidence, *, contracted: bool = True) -> tuple[str, ...]:
    """Return why a green run is not `verified`, () if it is; `contracted`: there is a contract."""
    return tuple(evidence.unmet(contracted=contracted))


def grade_run(context: GradingContext, emit: EventSink = ignore_event) -> Evidence:
    """Return the evidence for a green run; the caller adds what was known before the run.

    A piece is missing if the sandbox fails in it. `emit` is called in the measuring threads.
    Held-out examples that fail are put into `context`.

    Raises:
        SandboxError: the sandbox cannot run anything.
        SettingsError: a plug-in for evidence cannot be loaded.
    """
    collector = EvidenceCollector(emit)
    found: dict[str, Any] = _measure_all(context, collector)
    if parse_or_none(context.code) is None:
        collector.not_measured["integrity"] = UNREADABLE
    kinds = piece_types()
    functions = (item for file in context.tests for item in parse_test_functions(file.code))
    return Evidence(
        **{key: piece for key, piece in found.items() if key in kinds},
        integrity=find_findings(context.code, [file.code for file in context.tests]),
        returning=find_returning_tests(functions),
        thresholds=context.thresholds,
        seconds=collector.seconds,
        not_measured=collector.not_measured,
        extra={item.name: item for item in found.values() if isinstance(item, ExtraEvidence)},
    )


def _measure_all(context: GradingContext, collector: EvidenceCollector) -> dict[str, Piece | None]:
    """Measure all pieces, the longest first, and return them by key."""
    kinds = {key: kind for key, kind in piece_types().items() if kind.measured_by}
    measures: dict[str, Measurement] = {
        key: partial(pkgutil.resolve_name(kinds[key].measured_by), context)
        for key in dict.fromkeys((*_FIRST_PIECES, *kinds))
    }
    for name in list_plugins("greenloop.evidence"):
        measures[f"extra.{name}"] = partial(_measure_plugin, name, context)
    with ThreadPoolExecutor(_MAX_CONCURRENT) as pool:
        started = {
            key: pool.submit(collector.measure, key, measure) for key, measure in measures.items()
        }
    collector.raise_if_nothing_runs()
    found = {key: future.result() for key, future in started.items()}
    for key, piece in found.items():
        if (load := describe_load()) and _is_disturbed(piece, collector.not_measured.get(key, "")):
            found[key] = collector.measure_again(key, measures[key], load)
    return found


def _is_disturbed(piece: Piece | None, not_measured: str) -> bool:
    """Whether a busy machine may explain the result, or the lack of one."""
    return bool(piece.disturbance()) if piece else not_measured.endswith(DISTURBED)


def _measure_plugin(name: str, context: GradingContext) -> ExtraEvidence | str | None:
    """Return a plug-in's evidence under its name, or the text that says why there is none."""
    measure = load_plugin("greenloop.evidence", name)
    try:
        found = measure(context)
    except Exception as error:  # noqa: BLE001 - the code of another package
        return f"the plug-in failed: {type(error).__name__}: {error}"
    if isinstance(found, ExtraEvidence):
        return found.model_copy(update={"name": name})
    return found if found is None or isinstance(found, str) else "the plug-in returned no evidence"
