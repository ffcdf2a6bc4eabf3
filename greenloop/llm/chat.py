"""One streamed call of a LangChain chat model, in a daemon thread and without third-party tracing.

The synchronous client is used: provider packages cache asynchronous clients across models, and
these fail in a second event loop (measured: "Event loop is closed" at the second `asyncio.run`).
The thread of a cancelled call ends at its next chunk and never delays the program's exit.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config

from greenloop.llm.budget import TokenCount
from greenloop.llm.provider_errors import find_refused_feature
from greenloop.llm.replay import TOOL_KEY
from greenloop.llm.response import LLMResponse, is_repeating
from greenloop.prompts import Prompt
from greenloop.threads import run_in_thread

ProgressCallback = Callable[[int], None]
_FINISH_REASONS = ("finish_reason", "stop_reason", "done_reason")
REASONING_KEY = "reasoning_content"  # set by `ServerChatModel`, which is imported late
_TRACER_MODULES = ("langchain_core.tracers.langchain", "langfuse")


@dataclass(frozen=True)
class ChatSource:
    """A chat model and its configured name, by which it is priced and reported."""

    name: str
    model: BaseChatModel
    is_recorded: bool = False
    left_out: set[str] = field(default_factory=set, compare=False)  # features refused by the server

    async def complete(self, prompt: Prompt, progress: ProgressCallback) -> LLMResponse:
        """Stream one call, reporting the number of characters so far.

        A feature of the request that the server refuses is left out, now and in later calls.
        Raises Exception: any error of the provider's package, unchanged.
        """
        stop = threading.Event()
        loop = asyncio.get_running_loop()

        def report(characters: int) -> None:
            loop.call_soon_threadsafe(progress, characters)

        try:
            while True:
                try:
                    return await run_in_thread(lambda: self._call(prompt, report, stop))
                except Exception as error:
                    feature = find_refused_feature(error, self.left_out)
                    if feature is None or self.is_recorded:
                        raise
                    self.left_out.add(feature)
        finally:
            stop.set()

    def _call(
        self, prompt: Prompt, report_progress: ProgressCallback, stop: threading.Event
    ) -> LLMResponse:
        messages = self._build_messages(prompt)
        about = RunnableConfig(metadata={TOOL_KEY: prompt.tool}, run_name=prompt.tool)
        about["tags"] = ["greenloop", prompt.tool]  # for the callbacks of the surrounding program
        whole: AIMessageChunk | None = None
        finish: str | None = None
        reported = 0
        with suppress_tracing() as callbacks:
            config = RunnableConfig(**about, callbacks=callbacks)
            model, options = self._prepare_model(prompt)
            if "stream" in self.left_out:
                return _build_response(model.invoke(messages, config=config, **options), None)
            for chunk in model.stream(messages, config=config, **options):
                # Read from each chunk: adding chunks joins a repeated reason to "stopstop".
                reasons = map(chunk.response_metadata.get, _FINISH_REASONS)
                finish = next((str(item) for item in reasons if item), finish)
                whole = chunk if whole is None else whole + chunk
                if stop.is_set():
                    break
                if (characters := len(whole.text)) > reported:  # the last chunks have no text
                    report_progress(characters)
                    reported = characters
                    if prompt.enough and characters > prompt.enough:
                        finish = "stop"
                        break
                    if is_repeating(str(whole.text)):
                        finish = "stop" if prompt.enough else "length"  # a part may be enough
                        break
        return _build_response(whole, finish) if whole is not None else LLMResponse("")

    def _build_messages(self, prompt: Prompt) -> list[tuple[str, str]]:
        messages: list[tuple[str, str]] = [(item.role, item.text) for item in prompt.messages]
        if "system" not in self.left_out:
            return messages
        own = "\n\n".join(text for role, text in messages if role == "system")
        (role, first), *rest = [item for item in messages if item[0] != "system"]
        return [(role, "\n\n".join(filter(None, (own, first)))), *rest]

    def _prepare_model(self, prompt: Prompt) -> tuple[BaseChatModel, dict[str, Any]]:
        """Return the model with the prompt's temperature, and the options of its call."""
        model = self.model
        has_temperature = "temperature" in type(model).model_fields
        if (
            has_temperature
            and prompt.temperature is not None
            and "temperature" not in self.left_out
        ):
            model = model.model_copy(update={"temperature": prompt.temperature})
        is_refused = "stream_options" in self.left_out and "stream" not in self.left_out
        return model, {"stream_usage": False} if is_refused else {}


def _build_response(message: BaseMessage, finish_reason: str | None) -> LLMResponse:
    metadata = message.response_metadata
    reasons = map(metadata.get, _FINISH_REASONS)
    finish_reason = finish_reason or next((str(item) for item in reasons if item), None)
    used = getattr(message, "usage_metadata", None)
    usage = used and TokenCount(
        input_tokens=used["input_tokens"], output_tokens=used["output_tokens"]
    )
    name = metadata.get("model_name") or metadata.get("model")
    text = str(message.text).encode("utf-8", "replace").decode()  # replaces lone surrogates
    if not text.strip():
        text = _find_text_elsewhere(message, finish_reason)
    return LLMResponse(text, finish_reason, usage or None, name)


def _find_text_elsewhere(message: BaseMessage, finish_reason: str | None) -> str:
    """Return the answer of a message without text, from a tool call, a refusal or its reasoning."""
    more = message.additional_kwargs
    found = (getattr(message, name, ()) for name in ("tool_calls", "invalid_tool_calls"))
    calls = [item["args"] for items in found for item in items]
    calls += [(more.get("function_call") or {}).get("arguments"), more.get("refusal")]
    texts = [text for item in calls for text in _list_texts(item)]
    if texts:
        return max(texts, key=len)
    reasoning = more.get(REASONING_KEY)
    return reasoning if isinstance(reasoning, str) and finish_reason == "stop" else ""


def _list_texts(arguments: Any) -> list[str]:
    """Return the strings in the arguments of a tool call, which are a dict, or one as JSON."""
    with suppress(ValueError, TypeError):
        arguments = json.loads(arguments)
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    return [item for item in values if isinstance(item, str)]


@contextmanager
def suppress_tracing() -> Iterator[Any]:
    """Yield the surrounding program's callbacks without those that send prompts to a service.

    Within the block LangSmith's environment variables add no tracer to a call. Only greenloop's own
    spans hold what may be exported.
    """
    from langsmith.run_helpers import tracing_context  # LangChain imports it at each call anyway

    with tracing_context(enabled=False):
        yield remove_tracers(ensure_config().get("callbacks"))


def remove_tracers(callbacks: Any) -> Any:
    """Return LangChain callbacks (a list, a manager or None) without tracers of services."""
    if callbacks is None or isinstance(callbacks, list):
        return [item for item in callbacks or [] if not _is_tracer(item)]
    kept = callbacks.copy()
    for item in [*kept.handlers, *kept.inheritable_handlers]:
        if _is_tracer(item):
            kept.remove_handler(item)
    return kept


def _is_tracer(handler: Any) -> bool:
    return any(kind.__module__.startswith(_TRACER_MODULES) for kind in type(handler).__mro__)
