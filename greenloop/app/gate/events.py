"""Stop events of coding agents, and answers in each agent's format.

The formats are as documented in November 2026: hooks of Claude Code, Codex and OpenHands (`Stop`),
and of Cursor (`stop`); docs/agents.md names the pages. `text` is for tools such as aider that run a
command and read its output.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Agent = Literal["claude", "codex", "cursor", "openhands", "text"]
_TIMESTAMP = re.compile(r'"timestamp": *"(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)"')
_MAX_HEAD = 100_000


@dataclass(frozen=True)
class StopEvent:
    """The event that an agent sends when it stops.

    `is_repeated` is true if the agent continued because of a block, None if its events do not tell.
    `said` is its last message, `began` the first time in the session's transcript (ISO 8601).
    """

    folder: Path | None = None
    session: str = ""
    is_repeated: bool | None = None
    is_aborted: bool = False
    said: str = ""
    began: str = ""


def read_event(text: str) -> StopEvent:
    """Read an agent's event; missing keys and values of another type are ignored."""
    try:
        event = json.loads(text) if text.strip() else {}
    except ValueError:
        event = {}
    if not isinstance(event, dict):
        return StopEvent()
    return StopEvent(
        folder=_read_folder(event),
        session=str(event.get("session_id") or event.get("conversation_id") or ""),
        is_repeated=_read_repeated(event),
        is_aborted=event.get("status") in ("aborted", "error"),
        said=str(event.get("last_assistant_message") or ""),
        began=_read_beginning(str(event.get("transcript_path") or "")),
    )


def _read_repeated(event: Mapping[str, Any]) -> bool | None:
    told = [event[key] for key in ("stop_hook_active", "loop_count") if key in event]
    return any(told) if told else None


def _read_beginning(transcript: str) -> str:
    """Return the first timestamp in the transcript of a session, '' if it has none."""
    try:
        with Path(transcript).expanduser().open(encoding="utf-8", errors="replace") as file:
            lines = file.read(_MAX_HEAD).splitlines() if transcript else []
    except (OSError, RuntimeError):
        return ""
    found = (_TIMESTAMP.search(line) for line in lines)
    return next((item[1] for item in found if item), "")


def _read_folder(event: Mapping[str, Any]) -> Path | None:
    roots = event.get("workspace_roots")
    named = (
        event.get("cwd")
        or event.get("working_dir")
        or (roots[0] if isinstance(roots, list) and roots else None)
    )
    return Path(named) if isinstance(named, str) and named else None


def format_block(agent: Agent, message: str) -> str:
    """Return the output that makes an agent continue with a message."""
    if agent == "cursor":
        return json.dumps({"followup_message": message})
    if agent == "text":
        return message
    return json.dumps({"decision": "block", "reason": message})


def format_pass(agent: Agent, note: str = "") -> str:
    """Return the output that lets an agent stop; `note` is for the user, if the agent shows it."""
    if agent in ("claude", "codex") and note:
        return json.dumps({"systemMessage": note})
    return "{}" if agent in ("codex", "cursor") else ""
