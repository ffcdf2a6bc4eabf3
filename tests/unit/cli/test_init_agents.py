"""Hooks of coding agents are merged into the tools' files, and taken out again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.cli.commands.init import init_command
from greenloop.cli.commands.init.agents import AGENTS, find_agent_file, update_agent_file
from greenloop.cli.options.tools import InitOptions
from greenloop.errors import InputError
from tests.support.programs import read_table


def write(root: Path, agent: str, text: str) -> Path:
    path = root / find_agent_file(agent).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("agent", AGENTS)
def test_a_hook_is_added_once_and_removed(agent: str, tmp_path: Path) -> None:
    item = find_agent_file(agent)
    before, after = update_agent_file(tmp_path, item, removes=False)
    assert before == ""
    assert after.count("greenloop gate") == 1
    write(tmp_path, agent, after)
    assert update_agent_file(tmp_path, item, removes=False) == (after, after)
    assert update_agent_file(tmp_path, item, removes=True) == (after, "")


def test_what_a_file_has_already_is_kept(tmp_path: Path) -> None:
    there = {
        "permissions": {"allow": ["Bash(ls)"]},
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
            "PreToolUse": [{"matcher": "Bash", "hooks": []}],
        },
    }
    write(tmp_path, "claude", json.dumps(there, indent=2) + "\n")
    item = find_agent_file("claude")
    before, after = update_agent_file(tmp_path, item, removes=False)
    now = json.loads(after)
    assert now["permissions"] == there["permissions"]
    assert [len(entries) for entries in now["hooks"].values()] == [2, 1]
    write(tmp_path, "claude", after)
    assert update_agent_file(tmp_path, item, removes=True)[1] == before
    now["hooks"]["Stop"][1]["hooks"] += there["hooks"]["Stop"][0]["hooks"]  # beside ours
    write(tmp_path, "claude", json.dumps(now))
    after = update_agent_file(tmp_path, item, removes=True)[1]
    assert (after.count("say done"), after.count("greenloop gate")) == (2, 0)


def test_nothing_blocks_an_agent_where_greenloop_fails(tmp_path: Path) -> None:
    for agent in ("claude", "codex", "cursor", "openhands"):
        after = update_agent_file(tmp_path, find_agent_file(agent), removes=False)[1]
        assert f"greenloop gate --agent {agent} || exit 0" in after


def test_an_agent_that_will_not_find_greenloop_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    options = InitOptions(root=tmp_path, agent="claude", remove=False)
    assert init_command(options) == 0
    assert "greenloop is not on PATH, so the hook does nothing" in capsys.readouterr().out
    assert init_command(replace(options, remove=True)) == 0
    assert not (tmp_path / ".claude").exists()


@pytest.mark.parametrize(("agent", "text", "said"), read_table(__file__, "not_merged"))
def test_a_file_that_cannot_be_merged_is_left_as_it_is(
    agent: str, text: str, said: str, tmp_path: Path
) -> None:
    path = write(tmp_path, agent, text)
    with pytest.raises(InputError, match=said):
        update_agent_file(tmp_path, find_agent_file(agent), removes=False)
    assert path.read_text() == text


def test_an_unknown_agent_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="claude, codex, cursor, openhands, aider, opencode"):
        find_agent_file("cluade")
