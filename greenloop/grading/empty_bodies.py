"""Extreme mutation: the tests on the code with every function body raising.

Niedermayr, Juergens, Wagner, "Will my tests tell me if I break this code?" (2016); Descartes.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import NamedTuple

from greenloop.grading.context import GradingContext
from greenloop.grading.isolation import agreement
from greenloop.grading.isolation.agreement import are_observable, find_agreement, get_observed
from greenloop.grading.observation import ObservationRequest
from greenloop.records import EmptyBodies, TestRun
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import PARSE_ERRORS
from greenloop.testsuite.stubs import with_empty_bodies


def measure(context: GradingContext) -> EmptyBodies | str:
    """Run the tests on the code without function bodies: they must fail.

    Code with which they pass changes the tests while it is imported. With a module without
    functions (a table, an enumeration) they honestly pass: a text says so.
    """
    emptied = context.remember(_empty_bodies)
    if not emptied.code:
        return emptied.why_not
    found = _judge_observed(context, emptied.code)
    return found or judge_empty_bodies(context.run_tests(emptied.code))


class _Emptied(NamedTuple):
    """The code without function bodies, or why there is none."""

    code: str = ""
    why_not: str = ""


def _empty_bodies(context: GradingContext) -> _Emptied:
    try:
        source = with_empty_bodies(context.code)
        nodes = ast.walk(ast.parse(context.code))
    except PARSE_ERRORS:
        return _Emptied(why_not="the code cannot be parsed")
    has_functions = any(isinstance(node, (Function, ast.Lambda)) for node in nodes)
    return _Emptied(source) if has_functions else _Emptied(why_not="the code has no functions")


def plan_requests(context: GradingContext) -> list[ObservationRequest]:
    """Return what is observed on the code without function bodies, if each test can be observed."""
    source = context.remember(_empty_bodies).code
    return agreement.plan_requests(context, source) if source and are_observable(context) else []


def _judge_observed(context: GradingContext, source: str) -> EmptyBodies | None:
    """Return what was observed without function bodies; None where the tests have to be run.

    That is where isolation does not agree with each test of the code as it is, and where no test
    fails: what the code has registered before in that process may still answer.
    """
    files = [file for file in context.tests if context.plan_scenarios(file).scenarios]
    if not files or not all(find_agreement(context, file) for file in files):
        return None
    found = [get_observed(context, file, source) for file in files]
    outcomes = Counter(row.outcome for item in found if item for row in item.outcomes)
    passed, failed = outcomes["agrees"], outcomes["differs"]
    if not failed or passed + failed != len(context.first_run.tests):
        return None
    return EmptyBodies(reached=True, passed=passed, failed=failed)


def judge_empty_bodies(run: TestRun) -> EmptyBodies:
    """Return what a run without function bodies shows."""
    failed = len(run.failing_tests)
    passed = sum(test.outcome == "passed" for test in run.tests)
    if run.ending == "timeout":
        late = f"out of time after {len(run.tests)} tests"
        return EmptyBodies(reached=False, passed=passed, failed=failed, cut_short=late)
    green = run.ending == "finished" and passed > 0 and not failed
    return EmptyBodies(reached=not green, passed=passed, failed=failed)
