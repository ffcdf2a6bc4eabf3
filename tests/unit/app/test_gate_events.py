"""Stop events of coding agents are read, and answered in each agent's documented form."""

import json
from pathlib import Path

import pytest

from greenloop.app.gate.events import Agent, format_block, format_pass, read_event
from greenloop.app.gate.run import GateRequest
from tests.support.programs import read_table


def test_a_stop_event_of_claude_code_is_read() -> None:
    event = read_event(
        '{"session_id": "abc", "transcript_path": "/t.jsonl", "cwd": "/work/shop", '
        '"hook_event_name": "Stop", "stop_hook_active": true, "last_assistant_message": "Done."}'
    )
    assert (event.folder, event.session, event.said) == (Path("/work/shop"), "abc", "Done.")
    assert event.is_repeated
    assert not event.is_aborted


def test_a_stop_event_of_cursor_is_read() -> None:
    event = read_event(
        '{"conversation_id": "c1", "status": "completed", "loop_count": 1, '
        '"workspace_roots": ["/work/shop"], "hook_event_name": "stop"}'
    )
    assert (event.folder, event.session, event.is_repeated) == (Path("/work/shop"), "c1", True)
    assert read_event('{"status": "aborted"}').is_aborted


def test_a_stop_event_of_openhands_is_read() -> None:
    event = read_event('{"event_type": "Stop", "session_id": "o1", "working_dir": "/work/shop"}')
    assert (event.folder, event.session, event.is_repeated) == (Path("/work/shop"), "o1", None)


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"cwd": 3, "workspace_roots": "x"}'])
def test_another_text_is_as_if_nothing_was_said(text: str) -> None:
    event = read_event(text)
    assert (event.folder, event.session, event.is_repeated) == (None, "", None)


@pytest.mark.parametrize(("agent", "answer"), read_table(__file__, "BLOCKS"))
def test_a_block_has_the_form_of_the_agent(agent: Agent, answer: dict[str, str]) -> None:
    assert json.loads(format_block(agent, "mend it")) == answer


def test_an_agent_that_may_stop_is_told_nothing_to_do() -> None:
    assert format_pass("claude") == ""
    assert json.loads(format_pass("claude", "no sandbox")) == {"systemMessage": "no sandbox"}
    assert json.loads(format_pass("cursor", "no sandbox")) == {}
    assert json.loads(format_pass("codex")) == {}
    assert format_pass("text", "no sandbox") == ""


@pytest.mark.parametrize(("load", "limit"), [(0.0, 60.0), (4.0, 120.0), (99.0, 240.0)])
def test_a_busy_machine_gets_more_time_if_none_is_given(
    monkeypatch: pytest.MonkeyPatch, load: float, limit: float
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert GateRequest(Path()).limit_time() == limit
    assert GateRequest(Path(), time_s=25.0).limit_time() == 25.0
