"""One call of a LangChain chat model, away from the event loop.

The synchronous client is used, in a thread of its own: asynchronous clients are cached by the
provider packages across models and break when a second event loop comes along (measured: "Event
loop is closed" at the second `asyncio.run`). A cancelled call's thread ends at its next chunk; it
is a daemon, so that it never holds up the end of the program.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.runnables import RunnableConfig

from greenloop.llm.no_tracing import suppress_tracing
from greenloop.llm.replay import TOOL_KEY
from greenloop.llm.response_log import TokenCount
from greenloop.prompts import Prompt

T = TypeVar("T")
ProgressCallback = Callable[[int], None]


@dataclass(frozen=True)
class Completion:
    """What came back of one call. `usage` is None where the provider gave none."""

    text: str
    finish_reason: str | None
    usage: TokenCount | None
    model: str | None


@dataclass(frozen=True)
class ChatSource:
    """A chat model under the name that it was asked for by."""

    name: str
    model: BaseChatModel
    is_recorded: bool = False

    async def complete(self, prompt: Prompt, progress: ProgressCallback) -> Completion:
        """One streamed call. Raises whatever the provider's package raises."""
        stop = threading.Event()
        loop = asyncio.get_running_loop()

        def tell(characters: int) -> None:
            loop.call_soon_threadsafe(progress, characters)

        try:
            return await run_in_thread(lambda: self._stream(prompt, tell, stop))
        finally:
            stop.set()

    def _stream(
        self, prompt: Prompt, report_progress: ProgressCallback, stop: threading.Event
    ) -> Completion:
        messages = [(item.role, item.text) for item in prompt.messages]
        with suppress_tracing() as callbacks:
            return self._collect_chunks(
                messages, _build_config(prompt.tool, callbacks), report_progress, stop
            )

    def _collect_chunks(
        self,
        messages: Sequence[tuple[str, str]],
        config: RunnableConfig,
        report_progress: ProgressCallback,
        stop: threading.Event,
    ) -> Completion:
        whole: AIMessageChunk | None = None
        finish: str | None = None
        for chunk in self.model.stream(list(messages), config=config):
            finish = (
                _find_finish_reason(chunk) or finish
            )  # said twice, adding chunks up makes it "stopstop"
            whole = chunk if whole is None else whole + chunk
            if stop.is_set():
                break
            report_progress(len(whole.text) if whole else 0)
        if whole is None:
            return Completion("", None, None, None)
        return _build_completion(whole, finish)


def _build_config(tool: str, callbacks: Any) -> RunnableConfig:
    """The call under its tool's name, for the callbacks of the program around."""
    about = {TOOL_KEY: tool}
    return RunnableConfig(
        metadata=about, run_name=tool, tags=["greenloop", tool], callbacks=callbacks
    )


def _find_finish_reason(message: BaseMessage) -> str | None:
    metadata = message.response_metadata
    names = ("finish_reason", "stop_reason", "done_reason")
    return next((str(metadata[name]) for name in names if metadata.get(name)), None)


def _build_completion(message: BaseMessage, finish_reason: str | None) -> Completion:
    metadata = message.response_metadata
    used = getattr(message, "usage_metadata", None)
    usage = used and TokenCount(
        input_tokens=used["input_tokens"], output_tokens=used["output_tokens"]
    )
    name = metadata.get("model_name") or metadata.get("model")
    text = str(message.text).encode("utf-8", "replace").decode()  # half a surrogate pair is no text
    return Completion(text, finish_reason, usage or None, name)


async def run_in_thread(work: Callable[[], T]) -> T:
    """Runs blocking work in a daemon thread with the caller's context; raises what it raises."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(put: Callable[..., None], value: object) -> None:
        if not future.done():
            put(value)

    def body() -> None:
        try:
            value = context.run(work)
        except BaseException as error:  # noqa: BLE001 - handed to the awaiting side as it is
            _call_if_open(loop, deliver, future.set_exception, _wrap_stop_iteration(error))
        else:
            _call_if_open(loop, deliver, future.set_result, value)

    threading.Thread(target=body, name="greenloop-call", daemon=True).start()
    return await future


def _wrap_stop_iteration(error: BaseException) -> BaseException:
    """StopIteration cannot travel through a future."""
    return RuntimeError(repr(error)) if isinstance(error, StopIteration) else error


def _call_if_open(
    loop: asyncio.AbstractEventLoop, call: Callable[..., None], *args: object
) -> None:
    try:
        loop.call_soon_threadsafe(call, *args)
    except RuntimeError:
        return  # the loop was closed while the cancelled call was still out
