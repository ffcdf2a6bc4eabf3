"""Prompt of one model call: the tool that makes it, and the messages."""

import hashlib
import json
from typing import Literal, NamedTuple

Role = Literal["system", "user", "assistant"]
_MAX_REJECTED_CHARS = 4000


class Message(NamedTuple):
    """One message of a prompt."""

    role: Role
    text: str


class Prompt(NamedTuple):
    """The messages for one call of one tool."""

    tool: str
    messages: tuple[Message, ...]
    temperature: float | None = None  # None: as the server has it
    enough: int | None = None  # characters after which an answer is ended and counts as whole

    @property
    def sha256(self) -> str:
        """Digest over tool and messages, by which a resumed run finds the logged answer."""
        content = [self.tool, *([item.role, item.text] for item in self.messages)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def characters(self) -> int:
        """Length of all messages."""
        return sum(len(item.text) for item in self.messages)

    def with_feedback(self, response: str, error: str) -> "Prompt":
        """Return the prompt that repeats the call and says what was wrong with the answer."""
        shown = response[:_MAX_REJECTED_CHARS] or "(empty)"
        again = (Message("assistant", shown), Message("user", error))
        return self._replace(messages=self.messages + again)
