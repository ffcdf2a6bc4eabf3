"""Chat model of an OpenAI-compatible server, with the reasoning that LangChain drops."""

import json
from typing import Any

from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

from greenloop.llm.chat import REASONING_KEY

_NAMES = (REASONING_KEY, "reasoning")  # of vLLM and llama.cpp; of other servers


class ServerChatModel(ChatOpenAI):
    """A chat model of a server other than OpenAI's."""

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
        if made is not None:
            made.message.additional_kwargs |= _read_more(delta)
        return made

    def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult:
        if isinstance(response, str) and response.startswith("data:"):
            response = _join_events(response)
        made = super()._create_chat_result(response, generation_info)
        plain = response if isinstance(response, dict) else response.model_dump()
        for item, choice in zip(made.generations, plain["choices"], strict=True):
            item.message.additional_kwargs |= _read_more(choice["message"])
        return made


def _read_more(message: dict[str, Any]) -> dict[str, str]:
    """Return the reasoning and the refusal of a message, by key."""
    found = {name: message.get(name) for name in ("refusal", *_NAMES)}
    keys = dict.fromkeys(_NAMES, REASONING_KEY)
    return {keys.get(name, name): text for name, text in found.items() if isinstance(text, str)}


def _join_events(text: str) -> dict[str, Any]:
    """Join the events of a server that streams although it was asked not to."""
    lines = [line[5:] for line in text.splitlines() if line.startswith("data: {")]
    parts = [choice for line in lines for choice in json.loads(line).get("choices") or ()]
    said = "".join((part.get("delta") or {}).get("content") or "" for part in parts)
    reasons = [part["finish_reason"] for part in parts if part.get("finish_reason")]
    message = {"role": "assistant", "content": said}
    return {"choices": [{"message": message, "finish_reason": (reasons or [None])[-1]}]}
