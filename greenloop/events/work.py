"""Events of model calls, of work in the sandbox, and of batches."""

from dataclasses import field
from typing import Literal

from greenloop.events.base import Event
from greenloop.records.batch import BatchOutcome, BatchTotals, TaskResult


class WorkStarted(Event):
    """Local work starts, such as a test run; several go on at once under different names."""

    name: str


class WorkEnded(Event):
    name: str


class SandboxJobStarted(Event):
    """A sandbox job of this `kind` starts; `key` is unique. Emitted from any thread."""

    key: str
    kind: str


class SandboxJobProgress(Event):
    """A sandbox job reports `done` finished tests or mutants of `total` (0: not known).

    Untrusted code may have written the number. Emitted from any thread.
    """

    key: str
    kind: str
    done: int
    total: int = 0


class SandboxJobEnded(Event):
    """The job with this `key` has ended; `output` is what it printed."""

    key: str
    ending: str
    seconds: float
    output: str = field(default="", compare=False, repr=False)


class CallStarted(Event):
    """A model call starts; `messages`: role and text of each."""

    tool: str
    messages: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)


class CallProgress(Event):
    """`characters` of the answer were received so far."""

    tool: str
    characters: int


class CallRetried(Event):
    """A model call failed with a transient error and is repeated after `wait_s` seconds."""

    tool: str
    reason: str
    attempt: int
    wait_s: float


class CallFinished(Event):
    """A model call has ended with an answer."""

    tool: str
    seconds: float
    tokens: int
    source: Literal["model", "log"] = "model"  # paid for now, or taken from the run's log
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    response: str = field(default="", compare=False, repr=False)
    cost_usd: float | None = field(default=None, compare=False)  # None: no known price


class CallFailed(Event):
    """A model call was given up; `error` is the exception's type, without its text."""

    tool: str
    error: str = ""


class ResponseRejected(Event):
    """The model's answer cannot be parsed; it is requested once more, with the reason."""

    tool: str
    why: str


class BatchStarted(Event):
    """A batch of `count` specifications starts; its results are in `folder`."""

    count: int
    folder: str


class EntryStarted(Event):
    """The run of one specification of a batch starts."""

    id: str


class EntryEnded(Event):
    """The run of one specification of a batch has ended; `totals` are those so far."""

    outcome: BatchOutcome
    totals: BatchTotals


class HiddenTestsFinished(Event):
    """The hidden tests of an evaluation's task were run, now or in an earlier call."""

    result: TaskResult
    from_earlier_call: bool = False
