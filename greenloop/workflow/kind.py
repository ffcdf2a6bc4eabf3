"""Description of a kind of run: its request, strategy, delivery and estimate."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.workflow.delivery import back_up_original, deliver
from greenloop.workflow.state import Run
from greenloop.workflow.storage.request import RequestT, RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory
from greenloop.workflow.strategy import Strategy


@dataclass(frozen=True)
class Consent:
    """Callbacks by which a user approves written files and is told of overwritten ones."""

    is_reviewed: bool  # the user has seen and approved all files
    confirm_write: Callable[[Path, str], bool]
    confirm_patch: Callable[[str], bool] | None  # None: there is no terminal to ask at
    notify: Callable[[str], None]


Deliver = Callable[[Report, RequestT, RunDirectory, Consent], Report]


def deliver_outputs(
    report: Report, request: RunRequest, directory: RunDirectory, consent: Consent
) -> Report:
    """Write code and tests to their outputs. Raises OutputError."""
    keep_replaced(request, directory, consent)
    return deliver(report, request)


def keep_replaced(request: RunRequest, directory: RunDirectory, consent: Consent) -> None:
    """Keep a copy of the file that the output replaces, and notify. Raises OutputError."""
    path = Path(request.output) if request.output else None
    if path is not None and path.is_file():
        kept = back_up_original(directory, path, f"replaced/{path.name}")
        consent.notify(f"{path} is overwritten; a copy is kept as {kept}")


@dataclass(frozen=True)
class Estimate:
    """Expected calls, tokens and US dollars of a run; `max_` includes all repairs."""

    model: str | None
    calls: int
    max_calls: int
    tokens: int
    max_tokens: int
    cost_usd: float | None  # without repairs; None if the price is unknown

    def __str__(self) -> str:
        unknown = "cost unknown" if self.model else "cost unknown without a model"
        is_known = self.cost_usd is not None
        price = f"about ${self.cost_usd:.2f} without repairs" if is_known else unknown
        return (
            f"{self.calls} to {self.max_calls} calls, about {self.tokens:,} tokens "
            f"(up to {self.max_tokens:,} with repairs), {price}"
        )


@dataclass(frozen=True)
class Kind(Generic[RequestT]):
    """A kind of run. `estimate` returns its expected calls, tokens and cost."""

    request: type[RequestT]
    strategy: Callable[[Run, RequestT], Strategy]
    deliver: Deliver[RequestT] = deliver_outputs
    estimate: Callable[[RequestT, Settings], Estimate] | None = None
