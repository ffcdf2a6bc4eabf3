"""Asking the model: log first, budget, call, retry, log again, read, ask once more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_exponential, wait_random

from greenloop.errors import (
    GreenloopError,
    ModelUnavailableError,
    NoModelError,
    UnusableAnswerError,
)
from greenloop.events import (
    AnswerRejected,
    CallFailed,
    CallFinished,
    CallProgress,
    CallRetried,
    CallStarted,
    Emit,
    Notice,
    ignore,
)
from greenloop.llm.budget import Ledger, estimated_tokens
from greenloop.llm.chat import ChatSource, Completion
from greenloop.llm.parsing.errors import Unusable
from greenloop.llm.provider_errors import as_failure, in_one_line, may_pass, retry_after
from greenloop.llm.rate_limits import Call, CallLimits, Limits
from greenloop.llm.replay import ReplayChatModel
from greenloop.llm.response import Answer
from greenloop.llm.response_log import AnswerLog, RecordedAnswer, TokenCount
from greenloop.prompts import Prompt

T = TypeVar("T")


class Asks(Protocol):
    """What the tools need of a model."""

    async def ask(self, prompt: Prompt, read: Callable[[Answer], T]) -> T:
        """The answer to a prompt, read. Raises GreenloopError."""
        ...


@dataclass(frozen=True)
class RetryPolicy:
    """How often a call is made in all, and the first wait in seconds (it doubles, with jitter)."""

    attempts: int = 6
    backoff_s: float = 1.0


@dataclass
class Asker:
    """The one way to the model. `sources` are tried in order: the model, then its fallback."""

    sources: list[ChatSource]
    log: AnswerLog = field(default_factory=lambda: AnswerLog(None))
    ledger: Ledger = field(default_factory=Ledger)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    emit: Emit = ignore
    secrets: tuple[str, ...] = ()  # never shown, whatever a server says
    why_none: GreenloopError | None = None  # raised by a call, where there are no sources
    limits: Limits = field(default_factory=CallLimits)

    async def ask(self, prompt: Prompt, read: Callable[[Answer], T]) -> T:
        """The answer to a prompt, read.

        An unusable answer is asked for again once, saying what was wrong with it.

        Raises:
            UnusableAnswerError: the second answer was no better.
            ModelFailure, BudgetExhaustedError, OutputError: the call could not be made or logged.
        """
        answer = await self._answer(prompt)
        try:
            return read(answer)
        except Unusable as complaint:
            self.emit(AnswerRejected(prompt.tool, str(complaint)))
            again = prompt.asked_again(answer.text, str(complaint))
        while True:
            held = self.log.holds(again.tool, again.sha256)
            try:
                return read(await self._answer(again))
            except Unusable as complaint:
                if held:  # by a run that ended here; resumed, it asks once more
                    continue
                raise UnusableAnswerError(
                    f"{prompt.tool}: the model answered twice without the form asked for: "
                    f"{complaint} {complaint.person}".rstrip()
                ) from None

    @property
    def has_fallback(self) -> bool:
        return len(self.sources) > 1

    def use_fallback(self) -> None:
        """From now on the fallback model is asked."""
        self.sources = self.sources[1:]

    async def _answer(self, prompt: Prompt) -> Answer:
        messages = tuple((item.role, item.text) for item in prompt.messages)
        self.emit(CallStarted(prompt.tool, messages))
        held = self.log.take(prompt.tool, prompt.sha256)
        if held is not None:
            return self._held(held)
        started = time.monotonic()
        try:
            completion, source = await self._call(prompt)
        except GreenloopError as error:
            self.emit(CallFailed(prompt.tool, type(error).__name__))
            raise
        entry = self._entered(prompt, completion, source, time.monotonic() - started)
        self.emit(_finished(entry, entry.seconds or 0.0, "model"))
        return Answer(completion.text, completion.finish)

    def _held(self, entry: RecordedAnswer) -> Answer:
        """An answer that was paid for before: it counts towards the budget, and costs nothing now."""
        usage = entry.usage or TokenCount()
        self.ledger.add(entry.tool, entry.model or "", usage, entry.seconds or 0.0)
        model = self.sources[0].model if self.sources else None
        if isinstance(model, ReplayChatModel):
            model.skip(entry.tool)
        self.emit(_finished(entry, 0.0, "log"))
        return Answer(entry.answer, "length" if entry.error == "truncated" else "stop")

    async def _call(self, prompt: Prompt) -> tuple[Completion, ChatSource]:
        """The answer and who gave it."""
        if not self.sources:
            raise self.why_none or NoModelError("no model is asked in this run")
        source = self.sources[0]
        try:
            return await self._call_source(prompt, source), source
        except ModelUnavailableError as error:
            if source is self.sources[0]:  # else a call side by side has changed over already
                if not self.has_fallback:
                    raise
                self.use_fallback()
                self.emit(Notice(f"{error}; going on with {self.sources[0].name}"))
        source = self.sources[0]
        return await self._call_source(prompt, source), source

    async def _call_source(self, prompt: Prompt, source: ChatSource) -> Completion:
        def progress(characters: int) -> None:
            self.emit(CallProgress(prompt.tool, characters))

        call = Call(prompt.tool, prompt.characters, None if source.recorded else source.name)
        with self.ledger.reserved(call.tool, call.characters, call.model):
            try:
                async for attempt in self._retrying(prompt.tool, source):
                    with attempt:
                        async with self.limits.call(call):
                            return await source.complete(prompt, progress)
            except Exception as error:
                raise self._masked(as_failure(error, source.name)) from error
        raise AssertionError("tenacity either returns or raises")

    def _masked(self, error: GreenloopError) -> GreenloopError:
        error.args = tuple(self._hidden(str(item)) for item in error.args)
        return error

    def _hidden(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "***") if secret else text
        return text

    def _retrying(self, tool: str, source: ChatSource) -> AsyncRetrying:
        backoff = 0.0 if source.recorded else self.retry.backoff_s
        growing = wait_exponential(multiplier=backoff, max=30) + wait_random(0, backoff)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = retry_after(error) if error else None
            return asked if asked is not None else growing(state)

        def tell(state: RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            why = self._hidden(in_one_line(error)) if error else "unknown"
            pause = state.next_action.sleep if state.next_action else 0.0
            self.emit(CallRetried(tool, why, state.attempt_number, pause))

        return AsyncRetrying(
            stop=stop_after_attempt(self.retry.attempts),
            wait=wait,
            retry=retry_if_exception(may_pass),
            before_sleep=tell,
            reraise=True,
        )

    def _entered(
        self, prompt: Prompt, completion: Completion, source: ChatSource, seconds: float
    ) -> RecordedAnswer:
        usage = completion.usage or TokenCount(
            input_tokens=estimated_tokens(prompt.characters),
            output_tokens=estimated_tokens(len(completion.text)),
        )
        model = (completion.model or source.name) if source.recorded else source.name
        cut_off = Answer(completion.text, completion.finish).cut_off
        entry = RecordedAnswer(
            tool=prompt.tool,
            answer=completion.text,
            prompt_sha256=prompt.sha256,
            model=model,
            usage=usage,
            error="truncated" if cut_off else None,
            seconds=round(seconds, 3),
        )
        self.log.append(entry)
        self.ledger.add(prompt.tool, model, usage, seconds)
        return entry


def _finished(
    entry: RecordedAnswer, seconds: float, source: Literal["model", "log"]
) -> CallFinished:
    usage = entry.usage or TokenCount()
    counts = (usage.input_tokens, usage.output_tokens)
    return CallFinished(
        entry.tool, seconds, usage.total, source, entry.model or "", *counts, entry.answer
    )
