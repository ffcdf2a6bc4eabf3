"""What isolation observes first of a test file, and whether its tests agree with all of that.

Where they do, other pieces of evidence judge what was observed and run nothing themselves.
"""

from __future__ import annotations

from greenloop.grading.context import GradingContext
from greenloop.grading.observation import ObservationRequest, Observed
from greenloop.testsuite import TestFile


def build_request(context: GradingContext, file: TestFile, code: str = "") -> ObservationRequest:
    """Return what isolation observes first of a test file, on the code or on another source."""
    plan = context.plan_scenarios(file)
    return ObservationRequest(plan.scenario, plan.judge, code=code)


def plan_requests(context: GradingContext, code: str = "") -> list[ObservationRequest]:
    """Return these requests for all test files with scenarios."""
    files = (file for file in context.tests if context.plan_scenarios(file).scenarios)
    return [build_request(context, file, code) for file in files]


def are_observable(context: GradingContext) -> bool:
    """Whether each test can be observed."""
    plans = [context.plan_scenarios(file) for file in context.tests]
    return any(plan.scenarios for plan in plans) and not any(plan.not_observable for plan in plans)


def get_observed(context: GradingContext, file: TestFile, code: str = "") -> Observed | None:
    """Return what was observed first of a file; None where that was not completed."""
    return context.shared.get(build_request(context, file, code)) if context.shared else None


def find_agreement(context: GradingContext, file: TestFile) -> Observed | None:
    """Return what was observed of a file if each row of each scenario agrees, else None.

    None too where a row agrees by a value with an equality of its own.
    """
    found = get_observed(context, file)
    return found if found and agrees_throughout(context, file, found) else None


def agrees_throughout(context: GradingContext, file: TestFile, found: Observed) -> bool:
    """Whether each row of each scenario of a file agrees, none by an equality of its own."""
    if any(item.outcome != "agrees" or item.has_objects for item in found.outcomes):
        return False
    judged = {item.scenario for item in found.outcomes}
    return len(judged) == len(context.plan_scenarios(file).scenarios)
