"""One run of the agent on a scripted model and a real sandbox, and what it said on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from greenloop.agent import CodingAgent
from greenloop.errors import GreenloopError
from greenloop.events import Event
from greenloop.records import Report
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.workflow.storage.request import GivenTests, MakeRequest, RunRequest
from tests.support.caching_sandbox import RememberingSandbox
from tests.support.model_responses import SPECIFICATION
from tests.support.scripted import ScriptedModel


@dataclass
class Outcome:
    """What came of a run: `error` where it broke off."""

    report: Report
    model: ScriptedModel
    fallback: ScriptedModel | None
    events: list[Event] = field(default_factory=list)
    error: GreenloopError | None = None

    @property
    def kinds(self) -> list[str]:
        return [item.kind for item in self.report.attempts]

    def told(self, kind: type[Event]) -> list[Any]:
        """The events of one kind."""
        return [item for item in self.events if isinstance(item, kind)]


# Most scripts end with the first green: they have no answer for tests against surviving mutants.
_DEFAULTS: dict[str, Any] = {"model_backoff_s": 0.0, "hardening_rounds": 0, "mutants": 0}
Way = Callable[..., Outcome]


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    """One sandbox for all runs: none of them sees anything of another."""
    with open_sandbox(Settings(timeout_s=30)) as opened:
        yield RememberingSandbox(opened)  # type: ignore[misc]


@pytest.fixture
def way(tmp_path: Path, box: Sandbox) -> Way:
    """Walks the way: a script by tool, a script for the fallback, settings."""

    def walk(
        script: dict[str, list[Any]],
        *,
        fallback: dict[str, list[Any]] | None = None,
        given: tuple[GivenTests, ...] = (),
        specification: str = SPECIFICATION,
        run_dir: Path | None = None,
        request: RunRequest | None = None,
        **settings: Any,
    ) -> Outcome:
        model = ScriptedModel(answers=script)
        second = ScriptedModel(answers=fallback) if fallback is not None else None
        events: list[Event] = []
        chosen = Settings(**{**_DEFAULTS, "home": tmp_path / "home", **settings})
        agent = CodingAgent(chosen, model=model, fallback=second, sandbox=box, emit=events.append)
        request = request or MakeRequest(specification=specification, given=given)
        try:
            report = asyncio.run(agent.run(request, run_dir))
        except GreenloopError as error:
            assert error.report is not None
            return Outcome(error.report, model, second, events, error)
        return Outcome(report, model, second, events)

    return walk
