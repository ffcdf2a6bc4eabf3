"""Observation of scenarios for several pieces of evidence, the first time in one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from greenloop.errors import SandboxError
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.scenarios import Observations, RowOutcome
from greenloop.testsuite import TestFile

# What takes longer is observed alone, with the time limit of the sandbox.
_TIMEOUT_S, _SUITE_FACTOR = 5.0, 3.0  # observed as the code is, without bodies, by other calls


class ObservationRequest(NamedTuple):
    """A text of scenarios, and the text that judges what they observe; '' where no text does.

    `code` is another source of the module that is observed, '' for its own.
    """

    scenario: str
    judge: str = ""
    code: str = ""


class Observed(NamedTuple):
    """What was observed, and how it was judged.

    State that earlier scenarios left in the process may have changed what is `shared` with them:
    what speaks against the code counts only where it is observed alone, too. `changed` are the
    outcomes of texts that judge the same by other expected values.
    """

    observations: Observations
    outcomes: tuple[RowOutcome, ...] = ()
    shared: bool = False
    changed: tuple[tuple[RowOutcome, ...], ...] = ()


Found = Sequence[tuple[ObservationRequest, Observations]]


class SharedObservation:
    """The first observation of all requests, made when one of them is asked for.

    `suite_s` are the seconds of the tests, if what they call is observed too, else 0. `plan_changes`
    returns, for what was observed, texts that judge it by other expected values.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        code: str,
        module: str,
        tests: Sequence[TestFile],
        suite_s: float,
        plan_requests: Callable[[], Sequence[ObservationRequest]],
        plan_changes: Callable[[Found], Mapping[ObservationRequest, Sequence[str]]],
    ) -> None:
        self._sandbox, self._code, self._module, self._tests = sandbox, code, module, tests
        self._timeout_s = _TIMEOUT_S + _SUITE_FACTOR * suite_s
        self._plan_requests, self._plan_changes = plan_requests, plan_changes
        self._lock = threading.Lock()
        self._found: dict[ObservationRequest, Observed] | None = None

    def get(self, request: ObservationRequest) -> Observed | None:
        """Return what was observed for a request; None where it was not completed."""
        with self._lock:
            if self._found is None:
                try:
                    self._found = self._observe()
                except SandboxError:
                    self._found = {}
            return self._found.get(request)

    def _observe(self) -> dict[ObservationRequest, Observed]:
        requests = sorted(dict.fromkeys(self._plan_requests()), key=lambda item: bool(item.code))
        if not requests:
            return {}
        texts = [(item.scenario, item.code) for item in requests]
        seen = self._sandbox.observe_together(
            self._code, self._module, texts, timeout_s=self._timeout_s
        )
        complete = [pair for pair in zip(requests, seen, strict=True) if not pair[1].error]
        changes = self._plan_changes(complete)
        judged = [
            (text, found)
            for item, found in complete
            for text in filter(None, (item.judge, *changes.get(item, ())))
        ]
        outcomes = iter(self._sandbox.judge_together(judged, self._tests) if judged else ())
        return {
            item: Observed(
                found,
                next(outcomes) if item.judge else (),
                shared=len(requests) > 1,
                changed=tuple(next(outcomes) for _ in changes.get(item, ())),
            )
            for item, found in complete
        }
