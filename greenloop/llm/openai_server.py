"""Chat model of an OpenAI-compatible server, which keeps what LangChain drops of an answer: reasoning."""

import json
from typing import Any

from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

from greenloop.llm.chat import REASONING_KEY

_NAMES = (REASONING_KEY, "reasoning")  # of vLLM and llama.cpp, of others


class ServerChatModel(ChatOpenAI):
    """A model of another server than OpenAI's."""

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: Any
    ) -> ChatGenerationChunk | None:
        if chunk.get("error"):
            raise ValueError(chunk["error"])
        made = super()._convert_chunk_to_generation_chunk(
            chunk, default_chunk_class, base_generation_info
        )
        choices = chunk.get("choices") or [{}]
        delta = choices[0].get("delta") or {}
        reasoning = next((delta[name] for name in _NAMES if delta.get(name)), None)
        if made is not None and isinstance(reasoning, str):
            made.message.additional_kwargs[REASONING_KEY] = reasoning
        return made

    def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult:
        if isinstance(response, str) and response.startswith("data:"):
            response = _join_events(response)
        return super()._create_chat_result(response, generation_info)


def _join_events(text: str) -> dict[str, Any]:
    """Return the answer of a server that streams although it was asked not to."""
    lines = [line[5:] for line in text.splitlines() if line.startswith("data: {")]
    parts = [choice for line in lines for choice in json.loads(line).get("choices") or ()]
    said = "".join((part.get("delta") or {}).get("content") or "" for part in parts)
    reasons = [part["finish_reason"] for part in parts if part.get("finish_reason")]
    message = {"role": "assistant", "content": said}
    return {"choices": [{"message": message, "finish_reason": (reasons or [None])[-1]}]}
