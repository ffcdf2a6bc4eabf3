"""Client of the chat model: log, budget, rate limits, retries, fallback and parsing of answers."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception
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
from greenloop.llm.budget import (
    UNPRICED_PROVIDER,
    Budget,
    TokenCount,
    describe_cut,
    estimate_tokens,
)
from greenloop.llm.chat import ChatSource
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.provider_errors import (
    has_wrong_address,
    is_transient,
    retry_after,
    summarize_error,
    to_greenloop_error,
)
from greenloop.llm.rate_limits import LLMCall, LocalRateLimits, RateLimits
from greenloop.llm.replay import ReplayChatModel
from greenloop.llm.response import LLMResponse
from greenloop.llm.response_log import RecordedResponse, ResponseLog
from greenloop.prompts import Prompt
from greenloop.threads import complete_in_thread

T = TypeVar("T")
_MIN_SECRET_CHARS = 8
_MAX_FIRST_ATTEMPTS = 3  # to reach a server that has not answered yet


class LLM(Protocol):
    """Interface of the model for the tools."""

    async def request(self, prompt: Prompt, parse: Callable[[LLMResponse], T]) -> T:
        """Return the parsed answer to a prompt. Raises GreenloopError."""
        ...


@dataclass(frozen=True)
class RetryPolicy:
    """Maximum number of attempts, and the first wait in seconds (doubling, with jitter)."""

    attempts: int = 6
    backoff_s: float = 1.0


@dataclass
class LLMClient:
    """Client for all model calls. `sources` are the model and, where configured, its fallback."""

    sources: list[ChatSource]
    log: ResponseLog = field(default_factory=lambda: ResponseLog(None))
    budget: Budget = field(default_factory=Budget)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    emit: EventSink = ignore_event
    secrets: tuple[str, ...] = ()  # masked in messages
    missing_model_error: GreenloopError | None = None  # raised by a call without sources
    rate_limits: RateLimits = field(default_factory=LocalRateLimits)
    has_warned: bool = False
    has_estimated: bool = False  # whether the user was told that the server reports no usage

    async def request(self, prompt: Prompt, parse: Callable[[LLMResponse], T]) -> T:
        """Return the parsed answer to a prompt.

        After an invalid answer the model is asked once more, with the complaint about that answer.

        Raises:
            InvalidResponseError: the second answer is invalid too.
            ModelFailure, BudgetExhaustedError, OutputError: the call cannot be made or logged.
        """
        answer = await self._get_response(prompt)
        try:
            return parse(answer)
        except InvalidResponse as complaint:
            self.emit(ResponseRejected(prompt.tool, str(complaint)))
            again = prompt.with_feedback(answer.text, str(complaint))
        while True:
            is_logged = self.log.has_response(again)
            try:
                return parse(replace(await self._get_response(again), is_last=True))
            except InvalidResponse as complaint:
                if is_logged:  # the run before the resume ended here: ask again
                    continue
                hint = f"{complaint.user_hint} " if complaint.user_hint else ""
                raise InvalidResponseError(
                    f"{hint}{prompt.tool}: the model answered twice without the required form: "
                    f"{complaint}"
                ) from None

    @property
    def has_fallback(self) -> bool:
        return len(self.sources) > 1

    def use_fallback(self) -> None:
        """Use the fallback model for all further calls."""
        self.sources = self.sources[1:]

    def with_fallback_first(self) -> "LLMClient":
        """Return a client of the same run that asks the fallback model, where there is one."""
        return replace(self, sources=[*self.sources[1:], *self.sources[:1]])

    async def _get_response(self, prompt: Prompt) -> LLMResponse:
        messages = tuple((item.role, item.text) for item in prompt.messages)
        self.emit(CallStarted(prompt.tool, messages))
        logged = self.log.pop_response(prompt)
        if logged is not None:
            return self._use_logged_response(prompt.tool, logged)
        started = time.monotonic()
        try:
            response, source = await self._call_with_fallback(prompt)
        except GreenloopError as error:
            self.emit(CallFailed(prompt.tool, type(error).__name__))
            raise
        entry, cost = self._record_response(prompt, response, source, time.monotonic() - started)
        self.emit(_build_finished_event(prompt.tool, entry, "model", cost))
        await complete_in_thread(self.log.sync)
        return response

    def _use_logged_response(self, tool: str, entry: RecordedResponse) -> LLMResponse:
        """Add an answer that was paid for before a resume to the budget, and return it."""
        usage = entry.usage or TokenCount()
        self.budget.add(tool, entry.model or "", usage, entry.seconds or 0.0)
        model = self.sources[0].model if self.sources else None
        if isinstance(model, ReplayChatModel):
            model.skip(tool)
        self.emit(_build_finished_event(tool, entry, "log", 0.0))
        return LLMResponse(entry.answer, "length" if entry.error == "truncated" else "stop")

    async def _call_with_fallback(self, prompt: Prompt) -> tuple[LLMResponse, ChatSource]:
        """Return the answer and the source that gave it."""
        if not self.sources:
            raise self.missing_model_error or NoModelError(
                "this run has no model: name one with --model"
            )
        source = self.sources[0]
        try:
            return await self._call_source(prompt, source), source
        except ModelUnavailableError as error:
            if source is self.sources[0]:  # else a concurrent call has switched already
                if not self.has_fallback:
                    raise
                self.use_fallback()
                self.emit(Notice(f"{error}; continuing with {self.sources[0].name}"))
        source = self.sources[0]
        return await self._call_source(prompt, source), source

    async def _call_source(self, prompt: Prompt, source: ChatSource) -> LLMResponse:
        def progress(characters: int) -> None:
            self.emit(CallProgress(prompt.tool, characters))

        call = LLMCall(prompt.tool, prompt.characters, None if source.is_recorded else source.name)
        with self.budget.reserve(call.tool, call.characters, call.model):
            try:
                async for attempt in self._build_retrying(prompt.tool, source):
                    with attempt:
                        async with self.rate_limits(call):
                            return await source.complete(prompt, progress)
            except Exception as error:
                final = to_greenloop_error(error, source.name)
                final.args = tuple(self._mask_secrets(str(item)) for item in final.args)
                raise final from error
        raise AssertionError("unreachable: the retries return or raise")

    def _mask_secrets(self, text: str) -> str:
        for secret in self.secrets:
            if len(secret) >= _MIN_SECRET_CHARS:  # a shorter one is no secret: `x`, `openai`
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", text)
        return text

    def _build_retrying(self, tool: str, source: ChatSource) -> AsyncRetrying:
        backoff = 0.0 if source.is_recorded else self.retry.backoff_s
        growing = wait_exponential(multiplier=backoff, max=30) + wait_random(0, backoff)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            requested = retry_after(error) if error else None
            return requested if requested is not None else growing(state)

        def report_retry(state: RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            why = self._mask_secrets(summarize_error(error)) if error else "unknown"
            pause = state.next_action.sleep if state.next_action else 0.0
            self.emit(CallRetried(tool, why, state.attempt_number, pause))

        def is_last(state: RetryCallState) -> bool:
            error, most = state.outcome and state.outcome.exception(), self.retry.attempts
            # An address that never gave a model's answer is more likely wrong than busy.
            is_absent = error and not self.budget.calls and has_wrong_address(error)
            return state.attempt_number >= (min(most, _MAX_FIRST_ATTEMPTS) if is_absent else most)

        return AsyncRetrying(
            stop=is_last,
            wait=wait,
            retry=retry_if_exception(is_transient),
            before_sleep=report_retry,
            reraise=True,
        )

    def _record_response(
        self, prompt: Prompt, response: LLMResponse, source: ChatSource, seconds: float
    ) -> tuple[RecordedResponse, float | None]:
        """Log an answer and add it to the budget; return its entry and its US dollars."""
        usage = response.usage or TokenCount(
            input_tokens=estimate_tokens(prompt.characters),
            output_tokens=estimate_tokens(len(response.text)),
        )
        model = (response.model or source.name) if source.is_recorded else source.name
        entry = RecordedResponse(
            tool=prompt.tool,
            answer=response.text,
            prompt_sha256=prompt.sha256,
            model=model,
            usage=usage,
            error="truncated" if response.is_truncated else None,
            seconds=round(seconds, 3),
        )
        self.log.append(entry)
        is_server = source.name.startswith(f"{UNPRICED_PROVIDER}:")
        if response.usage is None and is_server and not self.has_estimated:
            self.has_estimated = True
            self.emit(Notice(f"{source.name} reports no usage: tokens are estimated"))
        cost = self.budget.add(prompt.tool, model, usage, seconds)
        if not self.has_warned and (cut := describe_cut(prompt.characters, usage.input_tokens)):
            self.has_warned = True
            self.emit(Notice(cut))
        return entry, cost


def _build_finished_event(
    tool: str, entry: RecordedResponse, source: Literal["model", "log"], cost: float | None
) -> CallFinished:
    usage, model = entry.usage or TokenCount(), entry.model or ""
    seconds = (entry.seconds or 0.0) if source == "model" else 0.0
    counts = (usage.input_tokens, usage.output_tokens)
    return CallFinished(tool, seconds, usage.total, source, model, *counts, entry.answer, cost)
