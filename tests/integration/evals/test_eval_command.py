"""The `eval` command with a local server that implements OpenAI's API."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.conftest import Run
from tests.integration.evals.conftest import DATA, Examinee, write_tasks
from tests.support.openai_server import OpenAIServer, Reply
from tests.support.programs import read_table

QUICK = {"GREENLOOP_HARDENING_ROUNDS": "0", "MAX_REPAIR_ITERATIONS": "0"}
# Without a sandbox, which starts at once; then nothing is `verified`.
PLAIN = {**QUICK, "GREENLOOP_PEER": "0", "GREENLOOP_MUTANTS": "0", "GREENLOOP_SANDBOX": "none"}
Examined = tuple[Examinee, OpenAIServer]
_TIMEOUT_S = 60


EVAL = (sys.executable, "-m", "greenloop", "eval")


def get_popen_arguments(server: OpenAIServer) -> dict[str, Any]:
    """Return arguments of Popen for a greenloop process that uses this server."""
    environment = {
        **PLAIN,
        "PATH": os.environ["PATH"],
        "HOME": str(Path.cwd()),
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "sk-test",
    }
    pipe = subprocess.PIPE
    return {"env": environment, "stdout": pipe, "stderr": pipe, "text": True}


def results(folder: str) -> dict[str, dict[str, Any]]:
    """Return the lines of `eval.jsonl` by id; each id must occur once."""
    lines = [json.loads(line) for line in Path(folder, "eval.jsonl").read_text().splitlines()]
    by_id = {item["id"]: item for item in lines}
    assert len(by_id) == len(lines)
    return by_id


@pytest.mark.slow
def test_verdicts_are_compared_with_hidden_tests(run: Run, examinee: Examined) -> None:
    respond, server = examinee
    tasks = write_tasks("right", "too-good", "too-bad", "wrong", "broken")
    command = ("eval", tasks, "--run-dir", "ev", "--json", "--markdown", "ev.md")
    status, out, err = run(*command, server=server, **QUICK)
    assert status == 0, err
    report = json.loads(out)
    rate = report["pass_at_1"]
    assert (rate["count"], rate["of"], round(rate["low"], 3)) == (2, 5, 0.118)
    assert (report["broken_off"], report["not_run"], report["unknown"]) == (1, 0, 0)
    rows = {row["verdict"]: row for row in report["verdicts"]}
    assert (rows["verified"]["hidden_passed"], rows["verified"]["hidden_failed"]) == (1, 1)
    assert (rows["verified"]["wrong"]["count"], rows["verified"]["wrong"]["of"]) == (1, 2)
    assert (rows["failed"]["wrong"]["count"], rows["failed"]["wrong"]["of"]) == (1, 2)
    assert rows["passed"]["wrong"]["share"] is None
    found = {id: (item["verdict"], item["truth"]) for id, item in results("ev").items()}
    assert found == {
        "right": ("verified", "passed"),
        "too-good": ("verified", "failed"),
        "too-bad": ("failed", "passed"),
        "wrong": ("failed", "failed"),
        "broken": (None, None),
    }
    assert report["total"]["calls"] == sum(respond.asked.values()) == 24
    assert not any("test_hidden" in text or "31" in text for text in respond.told)
    assert "1 of 5 tasks ended early" in Path("ev.md").read_text()


@pytest.mark.slow
def test_repeated_command_pays_nothing_twice_and_repeats_aborted_tasks(
    run: Run, examinee: Examined
) -> None:
    respond, server = examinee
    tasks = write_tasks("right", "broken")
    first = run("eval", tasks, "--json", server=server, **PLAIN)
    assert respond.asked == {"right": 4, "broken": 6}
    respond._other_words["broken"] = "a good mood"
    second = run("eval", tasks, "--json", server=server, **PLAIN)
    assert respond.asked == {"right": 4, "broken": 6 + 4}
    assert [json.loads(out)["pass_at_1"]["count"] for _, out, _ in (first, second)] == [1, 2]
    # Other hidden tests for the same text are run without a model call.
    lines = [json.loads(line) for line in Path(tasks).read_text().splitlines()]
    lines[0]["tests"] = lines[0]["tests"].replace("[31, 7]", "[0, 0]")
    Path(tasks).write_text("".join(json.dumps(line) + "\n" for line in lines))
    third = json.loads(run("eval", tasks, "--json", server=server, **PLAIN)[1])
    assert [item["truth"] for item in third["results"]] == ["failed", "passed"]
    assert sum(respond.asked.values()) == 14


@pytest.mark.slow
def test_killed_evaluation_is_resumed(examinee: Examined) -> None:
    respond, server = examinee
    tasks = write_tasks("right", "wrong")
    held = Reply(status=500, delay_s=_TIMEOUT_S)
    server.respond = lambda request: respond(request) if len(server.requests) < 6 else held
    command = [*EVAL, tasks, "--run-dir", "ev", "-j", "1"]
    process = subprocess.Popen(command, **get_popen_arguments(server))
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("hidden     right"):
            break
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=_TIMEOUT_S)
    assert list(results("ev")) == ["right"]
    server.respond = respond
    again = subprocess.Popen(command, **get_popen_arguments(server))
    out, err = again.communicate(timeout=_TIMEOUT_S)
    assert again.returncode == 0, err
    assert "hidden     right: passed (before)" in err
    assert respond.asked["right"] == 4
    assert [item["truth"] for item in results("ev").values()] == ["passed", "failed"]
    assert "pass@1   50.0% (1 of 2" in out


@pytest.mark.slow
def test_interrupted_evaluation_finishes_running_tasks(examinee: Examined) -> None:
    respond, server = examinee
    started, released = threading.Event(), threading.Event()

    def respond_late(request: dict[str, Any]) -> Reply:
        started.set()
        released.wait(_TIMEOUT_S)
        return respond(request)

    server.respond = respond_late
    command = [*EVAL, write_tasks("right", "wrong"), "-j", "1", "--run-dir", "ev"]
    process = subprocess.Popen(command, **get_popen_arguments(server))
    assert started.wait(_TIMEOUT_S)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "finishing the active runs" not in process.stderr.readline():
        assert process.poll() is None
    released.set()
    out, err = process.communicate(timeout=_TIMEOUT_S)
    assert process.returncode == 130, err
    assert "stopped; the same command continues" in err
    assert "not complete: 1 of 2 tasks were not run" in out
    assert [item["truth"] for item in results("ev").values()] == ["passed"]


@pytest.mark.slow
def test_budget_ends_the_evaluation_and_reports_tasks_not_run(run: Run, examinee: Examined) -> None:
    _, server = examinee
    tasks = write_tasks("right", "wrong", "too-bad")
    command = ("eval", tasks, "-j", "1", "--max-tokens", "700")
    status, out, err = run(*command, server=server, **PLAIN)
    assert status == 5
    assert "continues where" in err
    assert "1 of 3 tasks ended early" in out
    assert "not complete: 2 of 3 tasks were not run" in out


def test_refused_key_ends_after_one_request(run: Run) -> None:
    with OpenAIServer(lambda _request: Reply("Incorrect API key", status=401)) as server:
        tasks = write_tasks("right", "wrong")
        status, _, err = run("eval", tasks, "-j", "1", server=server, **PLAIN)
        assert len(server.requests) == 1
    assert status == 3
    assert "the key was refused" in err


def test_folder_of_another_model_is_refused(run: Run) -> None:
    with OpenAIServer(lambda _request: Reply("no", status=401)) as server:
        tasks = write_tasks("right")
        run("eval", tasks, "--run-dir", "ev", server=server, **PLAIN)
        count = len(server.requests)
        other = ("--model", "openai:other", "--run-dir", "ev")
        status, _, err = run("eval", tasks, *other, server=server, **PLAIN)
        assert len(server.requests) == count
    assert status == 2
    assert "name another --run-dir" in err


OWN = '{"id": "a", "spec": "x", "tests": %s}\n'
BAD = read_table(__file__, "BAD")


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_before_any_model_call(run: Run, case: str) -> None:
    Path("folder").mkdir()
    good = OWN % json.dumps("import m\n\ndef test_x():\n    assert m.x\n")
    texts = {
        "broken": good + "{",
        "empty": "\n",
        "odd": '{"question": "?"}',
        "own": good,
        "twice": good * 2,
        "nopython": OWN % '"import m\\ndef test_x(:\\n"'.replace("import m\\n", "import (\\n"),
        "notest": OWN % '"import m\\nassert m.x\\n"',
        "nomodule": OWN % '"import os\\ndef test_x(): pass\\n"',
        "nocheck": '{"task_id": "H/0", "prompt": "def f():\\n 1", "entry_point": "f", "test": "f()"}',
        "nofile": OWN % '"there.py"',
    }
    Path("object.json").write_text('{\n "a": {"id": "a"}\n}\n')
    texts["nopython"] = texts["nopython"].replace('"tests"', '"module": "m", "tests"')
    for name, text in texts.items():
        Path(f"{name}.jsonl").write_text(text)
    arguments, message = BAD[case]
    with OpenAIServer(lambda _request: Reply("never")) as server:
        status, out, err = run("eval", *arguments, server=server, **PLAIN)
        assert server.requests == []
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_uncollectable_tests_are_reported_before_any_model_call(run: Run) -> None:
    line = {
        "id": "a",
        "spec": "x",
        "tests": "import m\nX = undefined\n\ndef test_x():\n    m.f()\n",
    }
    Path("tasks.jsonl").write_text(json.dumps(line))
    with OpenAIServer(lambda _request: Reply("never")) as server:
        status, _, err = run("eval", "tasks.jsonl", "-q", server=server, **PLAIN)
        assert server.requests == []
    assert status == 2
    assert "line 1 (id a): the tests cannot be collected, whatever the code is: NameError" in err


def test_check_tasks_runs_reference_solutions_without_a_model(run: Run) -> None:
    status, out, _ = run("eval", str(DATA / "own.jsonl"), "--check-tasks", **PLAIN)
    assert (status, out) == (0, "2 of 2 solutions of the data pass their hidden tests\n")
    lines = (DATA / "own.jsonl").read_text().replace("(a, b, c))[1]", "(a, b, c))[0]")
    Path("tasks.jsonl").write_text(lines)
    limited = ("--limit", "1", "--check-tasks")
    status, out, err = run("eval", "tasks.jsonl", *limited, **PLAIN)
    assert (status, out) == (1, "0 of 1 solutions of the data pass their hidden tests\n")
    assert "median-of-three: failed: test_hidden_order: AssertionError" in err
