"""A chat model that plays recorded answers, faults included. It ships with the product."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.exceptions import (
    ModelAPIError,
    ModelError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from greenloop.errors import ReplayExhaustedError
from greenloop.llm.response_log import RecordedResponse, load_responses

TOOL_KEY = "greenloop_tool"


class ReplayChatModel(BaseChatModel):
    """Hands out recorded answers per tool in the file's order, whatever the prompt.

    The calling tool's name comes in the call's metadata under `TOOL_KEY`.
    """

    source: str
    _queues: defaultdict[str, deque[RecordedResponse]] = PrivateAttr()
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, responses: Sequence[RecordedResponse], source: str = "memory") -> None:
        super().__init__(source=source)  # type: ignore[call-arg]
        self._queues = defaultdict(deque)
        for entry in responses:
            self._queues[entry.tool].append(entry)

    @classmethod
    def from_file(cls, path: Path) -> ReplayChatModel:
        """Raises InputError where the file cannot be read as a replay file."""
        return cls(load_responses(path), str(path))

    @property
    def _llm_type(self) -> str:
        return "greenloop-replay"

    def skip(self, tool: str) -> None:
        """Passes over one answer of a tool (and the faults before it): it was used before a resume."""
        with self._lock:
            queue = self._queues[tool]
            while queue and queue.popleft().error not in (None, "truncated"):
                continue

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        tool = str((run_manager.metadata if run_manager else {}).get(TOOL_KEY, "?"))
        with self._lock:
            queue = self._queues[tool]
            if not queue:
                raise ReplayExhaustedError(
                    f"{self.source} holds no (more) answer for {tool}; a recording "
                    "fits the specification and the options that it was made with"
                )
            entry = queue.popleft()
        fault = _build_error(entry)
        if fault is not None:
            raise fault
        return ChatResult(generations=[ChatGeneration(message=_build_message(entry))])


def _build_error(entry: RecordedResponse) -> ModelError | None:
    if entry.error == "rate_limit":
        return ModelRateLimitError("recorded fault: rate limit")
    if entry.error == "server_error":
        return ModelAPIError("recorded fault: server error")
    if entry.error == "timeout":
        return ModelTimeoutError("recorded fault: time-out")
    return None


def _build_message(entry: RecordedResponse) -> AIMessage:
    used = entry.usage
    usage = used and UsageMetadata(
        input_tokens=used.input_tokens, output_tokens=used.output_tokens, total_tokens=used.total
    )
    finish = "length" if entry.error == "truncated" else "stop"
    metadata = {"finish_reason": finish, "model_name": entry.model or "recorded"}
    return AIMessage(entry.answer, usage_metadata=usage, response_metadata=metadata)
