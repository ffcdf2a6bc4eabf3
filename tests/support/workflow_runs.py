"""Runs of the agent on a scripted model, with their events."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.agent import CodingAgent
from greenloop.errors import GreenloopError
from greenloop.events import Event
from greenloop.records import Report
from greenloop.records.contract import ChoiceAsker
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.request import GivenTests, RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.support.model_responses import SPECIFICATION
from tests.support.scripted import ScriptedModel


@dataclass
class Outcome:
    """Result of a run; `error` is set where it broke off."""

    report: Report
    model: ScriptedModel
    fallback: ScriptedModel | None
    events: list[Event] = field(default_factory=list)
    error: GreenloopError | None = None

    @property
    def kinds(self) -> list[str]:
        return [item.kind for item in self.report.attempts]

    def events_of(self, kind: type[Event]) -> list[Any]:
        """Return the events of one kind."""
        return [item for item in self.events if isinstance(item, kind)]


# Most scripted models have no answer for hardening, and a second implementation takes seconds.
_DEFAULTS: dict[str, Any] = {
    "model_backoff_s": 0.0,
    "hardening_rounds": 0,
    "mutants": 0,
    "peer": False,
}
RunWorkflow = Callable[..., Outcome]


def create_runner(box: Sandbox, home: Path) -> RunWorkflow:
    """Return a function that runs the agent on answers by tool, and on those of a fallback."""

    def run(
        script: dict[str, list[Any]],
        *,
        fallback: dict[str, list[Any]] | None = None,
        given: tuple[GivenTests, ...] = (),
        specification: str = SPECIFICATION,
        run_dir: Path | None = None,
        request: RunRequest | None = None,
        resume: Path | None = None,
        asker: ChoiceAsker | None = None,
        **settings: Any,
    ) -> Outcome:
        model = ScriptedModel(answers=script)
        second = ScriptedModel(answers=fallback) if fallback is not None else None
        events: list[Event] = []
        chosen = Settings(**{**_DEFAULTS, "home": home, **settings})
        agent = CodingAgent(
            chosen, model=model, fallback=second, sandbox=box, emit=events.append, asker=asker
        )
        request = request or MakeRequest(specification=specification, given=given)
        try:
            started = agent.resume(RunDirectory.open(resume)) if resume else None
            report = asyncio.run(started or agent.run(request, run_dir))
        except GreenloopError as error:
            assert error.report is not None
            return Outcome(error.report, model, second, events, error)
        return Outcome(report, model, second, events)

    return run
