"""One streamed call in a thread."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from greenloop.llm.chat import ChatSource, Completion
from greenloop.prompts import Prompt
from greenloop.threads import run_in_thread


class Chunks(GenericFakeChatModel):
    """Streams the chunks that it is made with."""

    chunks: list[AIMessageChunk]
    messages: Iterator[Any] = iter(())

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[Any]:
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk)


def complete(prompt: Prompt, *chunks: AIMessageChunk) -> tuple[Completion, list[int]]:
    progress: list[int] = []
    source = ChatSource("test", Chunks(chunks=list(chunks)))
    return asyncio.run(source.complete(prompt, progress.append)), progress


def chunk(text: str, **metadata: str) -> AIMessageChunk:
    return AIMessageChunk(text, response_metadata=metadata)


def test_chunks_are_joined_and_progress_is_reported(prompt: Prompt) -> None:
    completion, progress = complete(prompt, chunk("ab"), chunk("cd"), chunk("", model_name="m"))
    assert (completion.text, completion.model, completion.usage) == ("abcd", "m", None)
    assert progress[:2] == [2, 4]


@pytest.mark.parametrize("name", ["finish_reason", "stop_reason", "done_reason"])
@pytest.mark.parametrize("times", [1, 2])
def test_repeated_finish_reason_is_reported_once(name: str, times: int, prompt: Prompt) -> None:
    chunks = [chunk("a"), *[chunk("", **{name: "length"})] * times]
    assert complete(prompt, *chunks)[0].finish_reason == "length"


def test_content_blocks_become_text_without_reasoning(prompt: Prompt) -> None:
    blocks: list[str | dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm", "index": 0},
        {"type": "text", "text": "fine", "index": 1},
    ]
    assert complete(prompt, AIMessageChunk(blocks))[0].text == "fine"


class TestThread:
    def test_callers_context_is_available(self) -> None:
        name = contextvars.ContextVar("name", default="")

        async def run() -> tuple[str, bool]:
            name.set("mine")
            return await run_in_thread(lambda: (name.get(), threading.current_thread().daemon))

        assert asyncio.run(run()) == ("mine", True)

    @pytest.mark.parametrize(
        ("error", "raised"), [(ValueError("x"), ValueError), (StopIteration(), RuntimeError)]
    )
    def test_exception_of_the_work_is_raised(
        self, error: Exception, raised: type[Exception]
    ) -> None:
        def work() -> None:
            raise error

        async def run() -> None:
            await run_in_thread(work)

        with pytest.raises(raised):
            asyncio.run(run())

    def test_cancelled_wait_does_not_wait_for_the_work(self) -> None:
        begun, release, done = threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            release.wait(5)
            done.set()

        async def run() -> None:
            task = asyncio.create_task(run_in_thread(work))
            await asyncio.to_thread(begun.wait, 5)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(run())
        assert not done.is_set()
        release.set()  # the loop is closed by now: delivering the result must not raise
        assert done.wait(5)
