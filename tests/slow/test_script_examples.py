"""The recorded examples of `heal` and `script`, run as examples/README.md says, and by a server."""

import json
import re
import shlex
import shutil
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from greenloop.llm.response_log import load_responses
from tests.integration.cli.conftest import Run, Served
from tests.support.openai_server import OpenAIServer, tool_of

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = re.findall(r"^greenloop (heal|script) (.*)$", (EXAMPLES / "README.md").read_text(), re.M)


@dataclass(frozen=True)
class Ends:
    """The expected outcome: exit status, acceptable verdicts, calls, and a part of the diff.

    The status of a healed file is 1 without a terminal: nothing is written without `--yes`.
    """

    status: int
    verdicts: tuple[str, ...]
    calls: int
    changed: tuple[str, ...] = ()


ENDS = {
    "heal_sales_summary": Ends(1, ("passed",), 1, ('+        region = sale["Sales Region"]',)),
    "heal_silent_report": Ends(1, ("passed",), 1, ('+if __name__ == "__main__":',)),
    "heal_text_tools": Ends(1, ("verified", "passed"), 1, ("+    ranked = sorted(", "+ 1 + len(")),
    "heal_unhealable": Ends(1, ("failed",), 2),
    "heal_without_model": Ends(1, ("passed",), 0, ("+    return parse(one) > parse(other)",)),
    "script_log_report": Ends(0, ("passed",), 2),
}


def command(name: str) -> list[str]:
    (found,) = [f"{one} {rest}" for one, rest in COMMANDS if f"examples/{name}/" in rest]
    return shlex.split(found)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Path, bytes]:
    """Copy the examples to a working folder; return the content of each file. No time limit is tight."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GREENLOOP_GRADING_SECONDS", "200")
    return {path: path.read_bytes() for path in Path("examples").rglob("*") if path.is_file()}


def run_and_check(name: str, files: dict[Path, bytes], status: int, out: str) -> dict[str, Any]:
    """Return the report of a run that ended as expected; the input files are unchanged."""
    report: dict[str, Any] = json.loads(out)
    ends = ENDS[name]
    assert status == ends.status, out
    assert report["verdict"] in ends.verdicts, report["reasons"]
    assert report["usage"]["calls"] == ends.calls
    assert {path: path.read_bytes() for path in files} == files
    return report


@pytest.mark.parametrize("name", sorted(ENDS))
def test_the_command_of_the_table(name: str, files: dict[Path, bytes], run: Run) -> None:
    status, out, err = run(*command(name))
    assert status == ENDS[name].status, err
    assert ("RECORDED" in err) == ("--model none" not in " ".join(command(name)))
    for line in ENDS[name].changed:
        assert line in out
    assert {path: path.read_bytes() for path in files} == files


@pytest.mark.parametrize("name", sorted(set(ENDS) - {"heal_without_model"}))
def test_a_server_with_the_same_answers(name: str, files: dict[Path, bytes], run: Run) -> None:
    recorded: defaultdict[str, list[str]] = defaultdict(list)
    for entry in load_responses(EXAMPLES / name / "answers.jsonl"):
        tool = entry.tool
        if name.startswith("script"):  # it was recorded when these calls had no tools of their own
            tool = {"generate_tests": "propose_checks", "judge_test": "judge_check"}.get(tool, tool)
        recorded[tool].append(entry.answer)
    words = command(name)
    place = words.index("--model")
    words[place : place + 2] = ["--model", "openai:served", "--json"]
    with OpenAIServer(Served(dict(recorded))) as server:
        status, out, _ = run(*words, server=server)
    report = run_and_check(name, files, status, out)
    asked = [tool_of(item) for item in server.requests]
    assert sorted(asked) == sorted(tool for tool, items in recorded.items() for _ in items)
    assert report["environment"]["model"].endswith("served")


def test_the_log_report_fits_its_task(files: dict[Path, bytes], run: Run) -> None:
    words = [*command("script_log_report"), "--artifacts", "made", "-o", "log.py"]
    status, out, err = run(*words)
    assert status == 0
    assert out.splitlines()[:4] == ["requests: 61", "broken lines: 3", "errors: 7", "15 /shop"]
    rows = Path("made/by_hour.csv").read_text().splitlines()
    assert rows[0] == "hour,requests,errors,bytes"
    assert sum(int(row.split(",")[1]) for row in rows[1:]) == 61
    assert "by_hour.csv: 24 rows" in err
    assert Path("log.py").exists()


def test_an_unhealable_script_ends_with_a_reason(files: dict[Path, bytes], run: Run) -> None:
    status, out, _ = run(*command("heal_unhealable"), "--json")
    report = run_and_check("heal_unhealable", files, status, out)
    best = Path(report["artifacts"]["best_code"])
    assert best.name == "rounding.py"
    assert best.read_bytes() != files[Path("examples/heal_unhealable/rounding.py")]
    assert any("contradict each other" in reason for reason in report["reasons"])


def test_every_folder_has_its_command() -> None:
    others = {"change_shop", "check", "ci", "eval", "traps"}
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()} - others
    assert folders == set(ENDS)
    assert len(COMMANDS) == len(folders)
