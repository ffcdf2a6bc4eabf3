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
    InvalidResponseError,
    ModelUnavailableError,
    NoModelError,
)
from greenloop.events import (
    CallFailed,
    CallFinished,
    CallProgress,
    CallRetried,
    CallStarted,
    EventSink,
    Notice,
    ResponseRejected,
    ignore_event,
)
from greenloop.llm.budget import Budget, estimate_tokens
from greenloop.llm.chat import ChatSource, Completion
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.provider_errors import (
    is_transient,
    retry_after,
    summarize_error,
    to_greenloop_error,
)
from greenloop.llm.rate_limits import LLMCall, LocalRateLimits, RateLimits
from greenloop.llm.replay import ReplayChatModel
from greenloop.llm.response import LLMResponse
from greenloop.llm.response_log import RecordedResponse, ResponseLog, TokenCount
from greenloop.prompts import Prompt

T = TypeVar("T")


class LLM(Protocol):
    """What the tools need of a model."""

    async def request(self, prompt: Prompt, parse: Callable[[LLMResponse], T]) -> T:
        """The answer to a prompt, read. Raises GreenloopError."""
        ...


@dataclass(frozen=True)
class RetryPolicy:
    """How often a call is made in all, and the first wait in seconds (it doubles, with jitter)."""

    attempts: int = 6
    backoff_s: float = 1.0


@dataclass
class LLMClient:
    """The one way to the model. `sources` are tried in order: the model, then its fallback."""

    sources: list[ChatSource]
    log: ResponseLog = field(default_factory=lambda: ResponseLog(None))
    budget: Budget = field(default_factory=Budget)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    emit: EventSink = ignore_event
    secrets: tuple[str, ...] = ()  # never shown, whatever a server says
    missing_model_error: GreenloopError | None = (
        None  # raised by a call, where there are no sources
    )
    rate_limits: RateLimits = field(default_factory=LocalRateLimits)

    async def request(self, prompt: Prompt, parse: Callable[[LLMResponse], T]) -> T:
        """The answer to a prompt, read.

        An unusable answer is asked for again once, saying what was wrong with it.

        Raises:
            UnusableAnswerError: the second answer was no better.
            ModelFailure, BudgetExhaustedError, OutputError: the call could not be made or logged.
        """
        answer = await self._get_response(prompt)
        try:
            return parse(answer)
        except InvalidResponse as complaint:
            self.emit(ResponseRejected(prompt.tool, str(complaint)))
            again = prompt.with_feedback(answer.text, str(complaint))
        while True:
            held = self.log.has_response(again.tool, again.sha256)
            try:
                return parse(await self._get_response(again))
            except InvalidResponse as complaint:
                if held:  # by a run that ended here; resumed, it asks once more
                    continue
                raise InvalidResponseError(
                    f"{prompt.tool}: the model answered twice without the form asked for: "
                    f"{complaint} {complaint.user_hint}".rstrip()
                ) from None

    @property
    def has_fallback(self) -> bool:
        return len(self.sources) > 1

    def use_fallback(self) -> None:
        """From now on the fallback model is asked."""
        self.sources = self.sources[1:]

    async def _get_response(self, prompt: Prompt) -> LLMResponse:
        messages = tuple((item.role, item.text) for item in prompt.messages)
        self.emit(CallStarted(prompt.tool, messages))
        held = self.log.pop_response(prompt.tool, prompt.sha256)
        if held is not None:
            return self._use_logged_response(held)
        started = time.monotonic()
        try:
            completion, source = await self._call_with_fallback(prompt)
        except GreenloopError as error:
            self.emit(CallFailed(prompt.tool, type(error).__name__))
            raise
        entry = self._record_response(prompt, completion, source, time.monotonic() - started)
        self.emit(_build_finished_event(entry, entry.seconds or 0.0, "model"))
        return LLMResponse(completion.text, completion.finish_reason)

    def _use_logged_response(self, entry: RecordedResponse) -> LLMResponse:
        """An answer that was paid for before: it counts towards the budget, and costs nothing now."""
        usage = entry.usage or TokenCount()
        self.budget.add(entry.tool, entry.model or "", usage, entry.seconds or 0.0)
        model = self.sources[0].model if self.sources else None
        if isinstance(model, ReplayChatModel):
            model.skip(entry.tool)
        self.emit(_build_finished_event(entry, 0.0, "log"))
        return LLMResponse(entry.answer, "length" if entry.error == "truncated" else "stop")

    async def _call_with_fallback(self, prompt: Prompt) -> tuple[Completion, ChatSource]:
        """The answer and who gave it."""
        if not self.sources:
            raise self.missing_model_error or NoModelError("no model is asked in this run")
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

        call = LLMCall(prompt.tool, prompt.characters, None if source.is_recorded else source.name)
        with self.budget.reserve(call.tool, call.characters, call.model):
            try:
                async for attempt in self._build_retrying(prompt.tool, source):
                    with attempt:
                        async with self.rate_limits.call(call):
                            return await source.complete(prompt, progress)
            except Exception as error:
                raise self._mask_error(to_greenloop_error(error, source.name)) from error
        raise AssertionError("tenacity either returns or raises")

    def _mask_error(self, error: GreenloopError) -> GreenloopError:
        error.args = tuple(self._mask_secrets(str(item)) for item in error.args)
        return error

    def _mask_secrets(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "***") if secret else text
        return text

    def _build_retrying(self, tool: str, source: ChatSource) -> AsyncRetrying:
        backoff = 0.0 if source.is_recorded else self.retry.backoff_s
        growing = wait_exponential(multiplier=backoff, max=30) + wait_random(0, backoff)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = retry_after(error) if error else None
            return asked if asked is not None else growing(state)

        def tell(state: RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            why = self._mask_secrets(summarize_error(error)) if error else "unknown"
            pause = state.next_action.sleep if state.next_action else 0.0
            self.emit(CallRetried(tool, why, state.attempt_number, pause))

        return AsyncRetrying(
            stop=stop_after_attempt(self.retry.attempts),
            wait=wait,
            retry=retry_if_exception(is_transient),
            before_sleep=tell,
            reraise=True,
        )

    def _record_response(
        self, prompt: Prompt, completion: Completion, source: ChatSource, seconds: float
    ) -> RecordedResponse:
        usage = completion.usage or TokenCount(
            input_tokens=estimate_tokens(prompt.characters),
            output_tokens=estimate_tokens(len(completion.text)),
        )
        model = (completion.model or source.name) if source.is_recorded else source.name
        cut_off = LLMResponse(completion.text, completion.finish_reason).is_truncated
        entry = RecordedResponse(
            tool=prompt.tool,
            answer=completion.text,
            prompt_sha256=prompt.sha256,
            model=model,
            usage=usage,
            error="truncated" if cut_off else None,
            seconds=round(seconds, 3),
        )
        self.log.append(entry)
        self.budget.add(prompt.tool, model, usage, seconds)
        return entry


def _build_finished_event(
    entry: RecordedResponse, seconds: float, source: Literal["model", "log"]
) -> CallFinished:
    usage = entry.usage or TokenCount()
    counts = (usage.input_tokens, usage.output_tokens)
    return CallFinished(
        entry.tool, seconds, usage.total, source, entry.model or "", *counts, entry.answer
    )
