"""Grading as `greenloop check` does it."""

import asyncio
from collections.abc import Iterator

from greenloop.app.check import run_check, start_check
from greenloop.events import ignore_event
from greenloop.grading import Plan
from greenloop.records import Report
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from greenloop.workflow.report_builder import build_report


def settings() -> Settings:
    """Return settings with a time limit that honest modules keep on a busy machine."""
    return Settings.model_construct(timeout_s=20, memory_mb=512)


def report_on(box: Sandbox, code: str, tests: str, conftest: str = "") -> Report:
    """Return the report, with mutants only where no other piece falls short.

    Mutants can only lower a verdict, and take a third of the time.
    """
    report = grade(box, code, tests, conftest, Plan(mutants=0))
    if all(item.startswith("mutants: ") for item in report.reasons):
        return grade(box, code, tests, conftest, Plan())
    return report


def grade(box: Sandbox, code: str, tests: str, conftest: str, plan: Plan) -> Report:
    """Return the report of one grade."""
    files = [TestFile("conftest.py", conftest)] if conftest else []
    files.append(TestFile("test_m.py", tests))
    check = start_check("m", code, tuple(files), plan, box.info)
    asyncio.run(run_check(box, check, ignore_event))
    return build_report(check)


def accusations(report: Report) -> list[str]:
    """Return everything in a report that accuses the module, whatever the verdict is."""
    return list(_accusing(report))


def _accusing(report: Report) -> Iterator[str]:
    yield from (item for item in report.reasons if item.startswith("forged"))
    found = report.evidence
    if found.assertion_mutation is not None:
        yield from (item.forged for item in found.assertion_mutation.green if item.forged)
        if found.assertion_mutation.forged:
            yield found.assertion_mutation.forged
    if found.empty_bodies is not None and not found.empty_bodies.reached:
        yield "empty bodies"
    if found.isolated is not None:
        yield from (f"differs in isolation: {name}" for name in found.isolated.differing)
    if found.memorization is not None:
        yield from (f"memorized: {name}" for name in found.memorization.functions)


def caught_by(report: Report) -> str:
    """Return the evidence against a module in a few words."""
    if report.reasons and report.reasons[0].startswith("forged: "):
        return report.reasons[0]
    return "; ".join(item[:90] for item in report.reasons) or "-"
