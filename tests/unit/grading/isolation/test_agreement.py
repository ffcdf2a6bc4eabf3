"""Whether the tests of a file agree with all that isolation has observed."""

from __future__ import annotations

from typing import cast

import pytest

from greenloop.grading import GradingContext
from greenloop.grading.isolation.agreement import are_observable, build_request, find_agreement
from greenloop.grading.observation import ObservationRequest, Observed, SharedObservation
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.scenarios import Observations, RowOutcome
from greenloop.testsuite import TestFile

CODE = "def half(n):\n    return n // 2\n"
FILE = TestFile(
    "test_m.py",
    "from m import half\n\ndef test_a():\n    assert half(2) == 1\n\ndef test_b():\n    assert half(4) == 2\n",
)
AGREES = RowOutcome(0, 0, "agrees")


class _Shared:
    """What was observed, for each request."""

    def __init__(self, outcomes: tuple[RowOutcome, ...]) -> None:
        self._found = Observed(Observations(()), outcomes)

    def get(self, request: ObservationRequest) -> Observed:
        return self._found


def create_context(*outcomes: RowOutcome) -> GradingContext:
    sandbox, run = cast(Sandbox, None), cast(TestRun, None)
    context = GradingContext(sandbox, CODE, [FILE], "m", run)
    context.shared = cast(SharedObservation, _Shared(outcomes))
    return context


def test_each_scenario_has_to_be_judged() -> None:
    assert find_agreement(create_context(AGREES, RowOutcome(1, 0, "agrees")), FILE)
    assert find_agreement(create_context(AGREES), FILE) is None
    assert find_agreement(create_context(), FILE) is None


@pytest.mark.parametrize(
    "other",
    [
        RowOutcome(1, 0, "differs"),
        RowOutcome(1, 0, "not observable"),
        RowOutcome(1, 0, "agrees", has_objects=True),
    ],
)
def test_each_row_has_to_agree_by_plain_values(other: RowOutcome) -> None:
    assert find_agreement(create_context(AGREES, other), FILE) is None


def test_a_request_on_another_source_is_another_one() -> None:
    context = create_context()
    assert are_observable(context)
    assert build_request(context, FILE) != build_request(context, FILE, "x = 1\n")
