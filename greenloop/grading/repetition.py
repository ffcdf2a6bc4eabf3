"""Repetition: what the tests call, observed again with another hash seed and in another order.

Where all tests of a module of functions can be observed, and agree, this shows whether their results
are repeatable, and which lines they run: in the process in which scenarios are observed anyway.
Where it does not, the tests are run again.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from greenloop.grading.context import GradingContext
from greenloop.grading.coverage.measurement import build_coverage
from greenloop.grading.isolation.agreement import (
    agrees_throughout,
    are_observable,
    find_agreement,
)
from greenloop.grading.observation import ObservationRequest, Observed
from greenloop.records import Coverage
from greenloop.sandbox.guest.coverage.instrumentation import (
    InstrumentedModule,
    instrument_module,
    render_hits,
)
from greenloop.sandbox.work.calls import parse_payload
from greenloop.syntax.parse import PARSE_ERRORS
from greenloop.testsuite import TestFile
from greenloop.testsuite.scenarios.straight import are_straight, has_classes

ORDER_SEED = 20261  # any fixed value: a repeat must give the same verdict
_SHORT_SUITE_S = 0.5  # others would use up the time that all observations have together
_HITS_SCENARIO = """
def scenario_of_hits():
    observe__(1, lambda: {hits})
scenarios = [scenarios[number] for number in {order}] + [(scenario_of_hits, (), lambda: [])]
"""
_JUDGE = "\njudges = [judges[number] for number in {order}]\n"


class _Repetition(NamedTuple):
    """The instrumented module, and what is observed on it, of each test file with scenarios."""

    module: InstrumentedModule
    requests: tuple[tuple[TestFile, ObservationRequest], ...]


def plan_requests(context: GradingContext) -> list[ObservationRequest]:
    """Return what is observed again; nothing where only another run of the tests shows it."""
    repetition = context.remember(_plan_repetition)
    return [request for _, request in repetition.requests] if repetition else []


def measure_observed_coverage(context: GradingContext) -> Coverage | None:
    """Return the coverage of an observed repetition in which each test agreed; it is complete.

    None where a test did not agree again, and where a line was missed: another run of the tests
    tells more of both.
    """
    repetition = context.remember(_plan_repetition)
    if not repetition or not context.shared or {*context.first_run.outcomes.values()} != {"passed"}:
        return None
    rows, hits = 0, ""
    for file, request in repetition.requests:
        first, again = find_agreement(context, file), context.shared.get(request)
        if not first or not again or not agrees_throughout(context, file, again):
            return None
        if len(again.outcomes) != len(first.outcomes):
            return None
        rows += len(first.outcomes)
        hits = _read_hits(again)  # of all files until then
    if rows != len(context.first_run.tests):
        return None
    found = build_coverage(repetition.module, hits, context)
    if isinstance(found, str) or found.missed_lines or found.missed_branches or found.unasked_lines:
        return None
    return found


def _plan_repetition(context: GradingContext) -> _Repetition | None:
    tests = [file.code for file in context.tests]
    if context.first_run.duration_s > _SHORT_SUITE_S:
        return None
    if has_classes(context.code) or not are_straight(tests) or not are_observable(context):
        return None
    try:
        module = instrument_module(context.code)
    except PARSE_ERRORS:
        return None
    files = (file for file in context.tests if context.plan_scenarios(file).scenarios)
    requests = tuple((file, _build_request(context, file, module)) for file in files)
    return _Repetition(module, requests)


def _build_request(
    context: GradingContext, file: TestFile, module: InstrumentedModule
) -> ObservationRequest:
    plan = context.plan_scenarios(file)
    order = [*range(len(plan.scenarios))]
    random.Random(ORDER_SEED).shuffle(order)
    scenario = plan.scenario + _HITS_SCENARIO.format(
        hits=render_hits(0, module.hit_count), order=order
    )
    return ObservationRequest(scenario, plan.judge + _JUDGE.format(order=order), module.source)


def _read_hits(seen: Observed) -> str:
    """Return the hits, which the last row reports."""
    rows = seen.observations.rows
    payload = rows[-1].observations[0][1] if rows and rows[-1].observations else ""
    return str((parse_payload(payload) or {}).get("value", ""))
