"""Hooks that run `greenloop gate` when a coding agent stops."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from greenloop.errors import InputError
from greenloop.files import read_text

# A shell runs the command. `exit 0` keeps a missing, old or failing greenloop from blocking.
_COMMAND = "greenloop gate --agent {agent} || exit 0"
_MARK = "greenloop gate"
_TIMEOUT_S = 300
_AIDER = 'test-cmd: "greenloop gate"\nauto-test: true\n'
_INSTRUCTIONS = """
## Before you say that you are done

Run `greenloop gate` and fix what it names, or say in your answer why it is right as it is. Do not remove,
skip or loosen tests to make it pass.
"""


@dataclass(frozen=True)
class AgentFile:
    """The file from which a tool reads its hooks.

    `change` returns its text with our hook, or without it if its second argument is true.
    """

    path: str
    change: Callable[[str, bool], str]
    hint: str = ""


def find_agent_file(agent: str) -> AgentFile:
    """Return the file of an agent. Raises InputError if the agent is unknown."""
    if agent not in _FILES:
        known = ", ".join(_FILES)
        raise InputError(f"--agent {agent} is not known: choose one of {known}")
    return _FILES[agent]


def update_agent_file(root: Path, item: AgentFile, *, removes: bool) -> tuple[str, str]:
    """Return the text of the file before and after the change; '' if there is no file.

    Raises InputError: the file cannot be read, or does not have the form that the tool reads.
    """
    path = root / item.path
    before = read_text(path) if path.exists() else ""
    try:
        return before, item.change(before, removes)
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(f"{path} does not have the form that the tool reads: {error}") from None


def _load(text: str) -> dict[str, Any]:
    value = json.loads(text) if text.strip() else {}
    if not isinstance(value, dict):
        raise ValueError("an object is expected")
    return value


def _is_ours(entry: Any) -> bool:
    return _MARK in json.dumps(entry)


def _without_ours(entries: list[Any]) -> Iterator[Any]:
    """Yield the entries without our command, which a group may hold beside the user's own."""
    for entry in entries:
        if not _is_ours(entry):
            yield entry
        elif others := [item for item in entry.get("hooks", ()) if not _is_ours(item)]:
            yield {**entry, "hooks": others}


def _change_json(
    event: str, entry: dict[str, Any], text: str, removes: bool, version: int | None = None
) -> str:
    """Return the text with our entry under `hooks`, or without it."""
    value = _load(text)
    hooks = value.setdefault("hooks", {})
    hooks[event] = list(_without_ours(hooks.get(event, [])))
    if not removes:
        if version is not None:
            value.setdefault("version", version)
        hooks[event].append(entry)
    _drop_empty(value, hooks, event)
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n" if value else ""


def _drop_empty(value: dict[str, Any], hooks: dict[str, Any], event: str) -> None:
    if not hooks[event]:
        del hooks[event]
    if not hooks:
        del value["hooks"]
    if set(value) == {"version"}:
        value.clear()


def _stop_hook(agent: str) -> Callable[[str, bool], str]:
    command = _COMMAND.format(agent=agent)
    hook = {"type": "command", "command": command, "timeout": _TIMEOUT_S}
    return partial(_change_json, "Stop", {"hooks": [hook]})


def _change_text(addition: str, text: str, removes: bool) -> str:
    if removes:
        return text.replace(addition, "").replace(addition.lstrip(), "")
    if addition.strip() in text:
        return text
    return f"{text.rstrip()}\n{addition}" if text.strip() else addition.lstrip()


def _change_aider(text: str, removes: bool) -> str:
    named = [line for line in text.splitlines() if line.startswith(("test-cmd:", "auto-test:"))]
    if named and _AIDER not in text and not removes:
        raise ValueError(f"it has `{named[0]}` already; replace it by hand")
    return _change_text(_AIDER, text, removes)


_CURSOR_ENTRY = {"command": _COMMAND.format(agent="cursor"), "loop_limit": 3}
_FILES: dict[str, AgentFile] = {
    "claude": AgentFile(".claude/settings.json", _stop_hook("claude")),
    "codex": AgentFile(
        ".codex/hooks.json",
        _stop_hook("codex"),
        "Codex runs the hook once you have reviewed it: type /hooks there",
    ),
    "cursor": AgentFile(
        ".cursor/hooks.json", partial(_change_json, "stop", _CURSOR_ENTRY, version=1)
    ),
    "openhands": AgentFile(".openhands/hooks.json", _stop_hook("openhands")),
    "aider": AgentFile(".aider.conf.yml", _change_aider),
    "opencode": AgentFile("AGENTS.md", partial(_change_text, _INSTRUCTIONS)),
}
AGENTS = tuple(_FILES)
