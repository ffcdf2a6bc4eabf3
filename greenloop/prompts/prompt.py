"""A prompt: who asks, and the messages."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Literal

Role = Literal["system", "user", "assistant"]
_MAX_REJECTED_CHARS = 4000


@dataclass(frozen=True)
class Message:
    role: Role
    text: str


@dataclass(frozen=True)
class Prompt:
    """The messages for one call of one tool."""

    tool: str
    messages: tuple[Message, ...]

    @property
    def sha256(self) -> str:
        """Digest over tool and messages: what `resume` finds an answer by."""
        content = [self.tool, *([item.role, item.text] for item in self.messages)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def characters(self) -> int:
        return sum(len(item.text) for item in self.messages)

    def with_feedback(self, response: str, error: str) -> Prompt:
        """The same call once more, saying what was wrong with the answer."""
        shown = response[:_MAX_REJECTED_CHARS] or "(empty)"
        again = (Message("assistant", shown), Message("user", error))
        return replace(self, messages=self.messages + again)
