"""Chat model that replays recorded answers and faults."""

import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

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
from pydantic import Field, PrivateAttr

from greenloop.errors import InputError, ReplayExhaustedError
from greenloop.llm.response_log import RecordedResponse, load_responses, read_header

TOOL_KEY = "greenloop_tool"
_FAULTS: dict[str, type[ModelError]] = {
    "rate_limit": ModelRateLimitError,
    "server_error": ModelAPIError,
    "timeout": ModelTimeoutError,
}


class ReplayChatModel(BaseChatModel):
    """Chat model that returns the recorded answers of each tool in order, whatever the prompt.

    The calling tool's name is in the call's metadata under `TOOL_KEY`.
    """

    source: str
    specification_sha256: str | None = None  # of the recorded text; None: any text
    recordings: dict[str, Path] = Field(default_factory=dict)  # of a folder, by this digest
    _queues: dict[str, deque[RecordedResponse]] = PrivateAttr(default_factory=dict)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, responses: Sequence[RecordedResponse], source: str = "memory") -> None:
        super().__init__(source=source)
        for entry in responses:
            self._queues.setdefault(entry.tool, deque()).append(entry)

    @classmethod
    def from_file(cls, path: Path) -> "ReplayChatModel":
        """Read a replay file; of a folder, only the digests of the recorded texts.

        Raises InputError: it cannot be read or is no replay file, or the folder has none.
        """
        if not path.is_dir():
            model, header = cls(load_responses(path), str(path)), read_header(path)
            model.specification_sha256 = header.specification_sha256 if header else None
            return model
        model = cls([], str(path))
        for item in sorted(path.rglob("*.jsonl")):
            if header := read_header(item):
                model.recordings.setdefault(header.specification_sha256, item)
        if not model.recordings:
            raise InputError(f"{path} has no recording (a .jsonl that --record wrote)")
        return model

    def select(self, sha256: str) -> "ReplayChatModel":
        """Return the recording of a text: this one, or the folder's.

        Raises InputError: the recording was made for another text, or the folder has none of it.
        """
        if self.recordings:
            if path := self.recordings.get(sha256):
                return self.from_file(path)
            raise InputError(
                f"{self.source} has no recording of this text (SHA-256 {sha256[:12]}…)"
            )
        if self.specification_sha256 not in (None, sha256):
            raise InputError(
                f"{self.source} was recorded for another text (SHA-256 "
                f"{str(self.specification_sha256)[:12]}…, this one has {sha256[:12]}…): replay it "
                "with the text that it was recorded for"
            )
        return self

    @property
    def _llm_type(self) -> str:
        return "greenloop-replay"

    def skip(self, tool: str) -> None:
        """Skip one answer of a tool, which a resumed run's log has, and the faults before it."""
        with self._lock:
            queue = self._queues.get(tool, deque())
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
            queue = self._queues.get(tool)
            if not queue:
                further = "further " if tool in self._queues else ""
                raise ReplayExhaustedError(
                    f"{self.source} has no {further}answer for {tool}: replay it with the "
                    "specification and the options that it was recorded with; the file name of "
                    "--output is the module's name"
                )
            entry = queue.popleft()
        if fault := _FAULTS.get(entry.error or ""):
            raise fault(f"recorded fault: {str(entry.error).replace('_', ' ')}")
        return ChatResult(generations=[ChatGeneration(message=_build_message(entry))])


def _build_message(entry: RecordedResponse) -> AIMessage:
    used = entry.usage
    # A cast: for Python 3.10, mypy takes the optional keys of newer langchain-core as required.
    usage = used and cast(
        UsageMetadata,
        {
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "total_tokens": used.total,
        },
    )
    finish = "length" if entry.error == "truncated" else "stop"
    metadata = {"finish_reason": finish, "model_name": entry.model or "recorded"}
    return AIMessage(entry.answer, usage_metadata=usage, response_metadata=metadata)
