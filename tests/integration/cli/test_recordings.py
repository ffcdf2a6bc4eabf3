"""Recordings that are bound to their text, from the command line."""

import json
from pathlib import Path

import pytest

from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.request import hash_recorded_texts
from tests.integration.cli.conftest import Run
from tests.support.model_responses import SPECIFICATION, answers

QUICK = {"GREENLOOP_MUTANTS": "0", "GREENLOOP_HARDENING_ROUNDS": "0"}
OTHER = "Write fizzbuzz(n)."


def record(path: str, specification: str = SPECIFICATION) -> str:
    """Write a recording that is bound to a text; return the model's name."""
    sha256 = hash_recorded_texts(MakeRequest(specification=specification))
    lines: list[object] = [{"recording": {"specification_sha256": sha256, "greenloop": "1"}}]
    lines += [{"tool": tool, "answer": i} for tool, items in answers().items() for i in items]
    Path(path).write_text("\n".join(map(json.dumps, lines)) + "\n")
    return f"replay:{path}"


def test_recording_is_refused_for_another_text_before_anything_runs(run: Run) -> None:
    model = record("r.jsonl")
    status, _, err = run(OTHER, "--model", model, "--sandbox", "fortress", "--run-dir", "run")
    assert status == 2
    (line,) = [item for item in err.splitlines() if "recorded for another text" in item]
    assert "r.jsonl" in line
    assert not Path("run/answers.jsonl").exists()


def test_fallback_recording_is_checked_too(run: Run) -> None:
    model, other = record("r.jsonl"), record("other.jsonl", OTHER)
    status, _, err = run(SPECIFICATION, "--model", model, "--fallback-model", other)
    assert status == 2
    assert "other.jsonl was recorded for another text" in err


@pytest.mark.slow
def test_batch_refuses_one_entry_and_runs_the_others(run: Run) -> None:
    Path("specs").mkdir()
    Path("specs/a.md").write_text(OTHER)
    Path("specs/b.md").write_bytes(SPECIFICATION.encode() + b"\r\n")
    status, _, _ = run("batch", "specs", "--model", record("r.jsonl"), "--json", **QUICK)
    assert status == 1
    ended = {
        item["id"]: item["reason"]
        for line in Path(".greenloop").rglob("results.jsonl")
        for item in map(json.loads, line.read_text().splitlines())
    }
    refused = [name for name, why in ended.items() if "recorded for another text" in why]
    assert (refused, len(ended)) == (["a"], 2)


@pytest.mark.slow
def test_eval_refuses_one_task_and_runs_the_others(run: Run) -> None:
    hidden = "from topk import top_k\ndef test_it():\n    assert top_k([1, 2], 1) == [2]\n"
    Path("tasks.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "spec": text, "tests": hidden}) + "\n"
            for name, text in (("a", OTHER), ("b", SPECIFICATION))
        )
    )
    words = ("eval", "tasks.jsonl", "--model", record("r.jsonl"), "--json", "--run-dir", "run")
    _, out, _ = run(*words, **QUICK)
    report = json.loads(out)
    found = {item["id"]: (item["exit_status"], item["truth"]) for item in report["results"]}
    assert found["a"][0] == 2
    assert found["b"] == (0, "passed")
