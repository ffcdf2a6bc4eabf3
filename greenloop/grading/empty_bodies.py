"""Extreme mutation: the tests run on code in which every function body raises.

Niedermayr, Juergens, Wagner, "Will my tests tell me if I break this code?" (2016); Descartes.
"""

import ast

from greenloop.grading.context import GradingContext
from greenloop.records import EmptyBodies, TestRun
from greenloop.sandbox.guest.coverage.instrumentation import instrument_file
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import PARSE_ERRORS, UNREADABLE
from greenloop.testsuite.stubs import with_empty_bodies


def measure(context: GradingContext) -> EmptyBodies | str:
    """Run the tests on the code with empty function bodies: they must fail.

    If they pass, importing the code changes the tests. Two cases are honest: a module without
    functions (a table, an enumeration), for which a text is returned, and tests of a project that
    run no function of the module, which are weak but no forgery.
    """
    try:
        source = with_empty_bodies(context.code)
        nodes = ast.walk(ast.parse(context.code))
    except PARSE_ERRORS:
        return UNREADABLE
    if not any(isinstance(node, (Function, ast.Lambda)) for node in nodes):
        return "the code has no functions"
    if not isinstance(context.sandbox, ProjectSandbox):
        return judge_empty_bodies(context.run_tests(source))
    recorded = context.sandbox.record_hits(source, context.tests, context.module)
    found = judge_empty_bodies(recorded.run)
    if found.reached or found.cut_short or _runs_body(source, recorded.mask):
        return found
    return found.model_copy(update={"cut_short": "the tests run no function of the module"})


def _runs_body(source: str, hits: int) -> bool:
    """Whether the hits include a `raise` that replaced a function body."""
    texts = source.splitlines()
    meaning = instrument_file(source)
    bodies = (
        number
        for number, line in (meaning.lines.items() if meaning else ())
        if texts[line - 1].strip() == "raise NotImplementedError"
    )
    return any(hits >> number & 1 for number in bodies)


def judge_empty_bodies(run: TestRun) -> EmptyBodies:
    """Return the evidence of a run with empty function bodies."""
    failed = len(run.failing_tests)
    passed = sum(test.outcome == "passed" for test in run.tests)
    if run.ending == "timeout":
        late = f"out of time after {len(run.tests)} tests"
        return EmptyBodies(reached=False, passed=passed, failed=failed, cut_short=late)
    green = run.ending == "finished" and passed > 0 and not failed
    return EmptyBodies(reached=not green, passed=passed, failed=failed)
