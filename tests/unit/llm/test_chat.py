"""One streamed call in a thread."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from greenloop.llm.chat import ChatSource
from greenloop.llm.response import LLMResponse
from greenloop.prompts import Prompt


class Chunks(GenericFakeChatModel):
    """Streams the chunks that it is made with."""

    chunks: list[AIMessageChunk]
    messages: Iterator[Any] = iter(())

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[Any]:
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk)


def complete(prompt: Prompt, *chunks: AIMessageChunk) -> tuple[LLMResponse, list[int]]:
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


def test_answer_that_repeats_itself_without_end_is_ended(prompt: Prompt) -> None:
    chunks = [chunk("def f():\n"), *[chunk("    return 0  # and so on\n") for _ in range(300)]]
    completion, _ = complete(prompt, *chunks)
    assert completion.finish_reason == "length"
    assert 6_000 < len(completion.text) < 6_100
    board = [chunk("board = [\n"), *[chunk(f"    {[0] * 20},\n") for _ in range(50)]]
    assert complete(prompt, *board)[0].finish_reason is None
    rows = [chunk(f"    {number}: {number**2},\n") for number in range(120)]
    assert complete(prompt, *rows)[0].finish_reason is None
    short, _ = complete(replace(prompt, enough=100), *rows)
    assert (short.finish_reason, len(short.text) < 130) == ("stop", True)
