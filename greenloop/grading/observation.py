"""Observation of scenarios for several pieces of evidence, the first time in one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from greenloop.errors import SandboxError
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.scenarios import Observations, RowOutcome
from greenloop.testsuite import TestFile

_TIMEOUT_S = 5.0  # what takes longer is observed alone, with the time limit of the sandbox


@dataclass(frozen=True)
class ObservationRequest:
    """A text of scenarios, and the text that judges what they observe; '' where no text does."""

    scenario: str
    judge: str = ""


@dataclass(frozen=True)
class Observed:
    """What was observed, and how it was judged.

    State that earlier scenarios left in the process may have changed what is `shared` with them: what
    speaks against the code counts only where it is observed alone, too.
    """

    observations: Observations
    outcomes: tuple[RowOutcome, ...] = ()
    shared: bool = False


class SharedObservation:
    """The first observation of all requests, made when one of them is asked for."""

    def __init__(
        self,
        sandbox: Sandbox,
        code: str,
        module: str,
        tests: Sequence[TestFile],
        plan_requests: Callable[[], Sequence[ObservationRequest]],
    ) -> None:
        self._sandbox, self._code, self._module, self._tests = sandbox, code, module, tests
        self._plan_requests = plan_requests
        self._lock = threading.Lock()
        self._found: dict[ObservationRequest, Observed] | None = None

    def take(self, request: ObservationRequest) -> Observed | None:
        """Return what was observed for a request, once; None where it was not completed."""
        with self._lock:
            if self._found is None:
                try:
                    self._found = self._observe()
                except SandboxError:
                    self._found = {}
            return self._found.pop(request, None)

    def _observe(self) -> dict[ObservationRequest, Observed]:
        requests = list(dict.fromkeys(self._plan_requests()))
        if len(requests) < 2:
            return {}
        texts = [item.scenario for item in requests]
        seen = self._sandbox.observe_together(self._code, self._module, texts, timeout_s=_TIMEOUT_S)
        complete = [pair for pair in zip(requests, seen, strict=True) if not pair[1].error]
        judged = [(item.judge, found) for item, found in complete if item.judge]
        outcomes = iter(self._sandbox.judge_together(judged, self._tests) if judged else ())
        return {
            item: Observed(found, next(outcomes) if item.judge else (), shared=True)
            for item, found in complete
        }
