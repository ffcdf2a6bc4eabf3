"""Batches that are stopped, killed or out of disk space: the same command continues them."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from greenloop.llm.response_log import load_responses
from tests.support.model_responses import (
    GOOD_CODE,
    contract_answer,
    fence,
    get_shown_text,
    peer_answer,
    suite_answer,
)
from tests.support.openai_server import OpenAIServer, Reply, tool_of

COUNT, JOBS, CALLS = 6, 3, 5  # specifications, concurrent conversations, calls of each
ALL = COUNT * CALLS
_PATIENCE_S = 90


class Counting:
    """Answers every request alike after a delay, and counts how often each call was made."""

    def __init__(self, delay_s: float = 0.3) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        self._delay_s, self._lock = delay_s, threading.Lock()

    def __call__(self, request: dict[str, Any]) -> Reply:
        text = "\n".join(str(item["content"]) for item in request["messages"])
        found = re.search(r"number (\d+)", text)
        with self._lock:
            self.asked[found[1] if found else "?", tool_of(request)] += 1
        answers = {
            "parse_specification": contract_answer(get_shown_text(text)),
            "generate_code": fence(GOOD_CODE),
            "generate_tests": suite_answer(),
            "review_code": "LGTM",
            "write_peer": peer_answer(),
        }
        return Reply(answers[tool_of(request)], delay_s=self._delay_s)

    @property
    def total(self) -> int:
        return sum(self.asked.values())


@pytest.fixture
def counting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Counting, OpenAIServer]]:
    monkeypatch.chdir(tmp_path)
    lines = (
        {"id": f"s{number}", "spec": f"Write top_k(xs, k), number {number}: the k largest."}
        for number in range(COUNT)
    )
    Path("specs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    respond = Counting()
    with OpenAIServer(respond) as server:
        yield respond, server


def start(server: OpenAIServer) -> subprocess.Popen[str]:
    own = {
        "PATH": os.environ["PATH"],
        "HOME": str(Path.cwd()),
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "sk-test",
        "GREENLOOP_MODEL": "openai:test",
        "GREENLOOP_MUTANTS": "0",
    }
    command = ["batch", "specs.jsonl", "--jobs", str(JOBS), "--run-dir", "runs", "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "greenloop", *command, "--quiet"],
        env=own,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any], str]:
    out, err = process.communicate(timeout=_PATIENCE_S)
    return process.returncode, json.loads(out or "{}"), err


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + _PATIENCE_S
    while not what():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)


def results() -> list[dict[str, Any]]:
    path = Path("runs/results.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def find_logged_calls() -> set[tuple[str, str]]:
    """Return the calls whose answers are in the logs: the number of the specification, the tool."""
    return {
        (path.parent.name[1], answer.tool)
        for path in Path("runs/runs").glob("s*/answers.jsonl")
        for answer in load_responses(path, allow_torn_tail=True)
    }


def finish_paying_only_for_what_is_not_logged(respond: Counting, server: OpenAIServer) -> None:
    """Run the command again: it asks for what was in flight a second time, and for nothing else."""
    logged = find_logged_calls()
    assert len(respond.asked.keys() - logged) <= 2 * JOBS  # a conversation may have two in flight
    status, totals, err = finish(start(server))
    assert (status, totals["reached"]) == (0, COUNT), err
    assert {call for call in logged if respond.asked[call] > 1} == set()
    assert len(respond.asked) == ALL
    assert max(respond.asked.values()) <= 2


def all_is_there(server: OpenAIServer) -> None:
    """Run the same command again: no work is left and no request is made."""
    ended = {item["id"] for item in results() if item["kind"] == "reached"}
    assert ended == {f"s{number}" for number in range(COUNT)}
    before = len(server.requests)
    status, totals, _ = finish(start(server))
    assert (status, totals["calls"], totals["unchanged"]) == (0, 0, COUNT)
    assert len(server.requests) == before


@pytest.mark.parametrize("answers", [1, 22])
def test_kill_9_loses_nothing_but_the_calls_in_flight(
    counting: tuple[Counting, OpenAIServer], answers: int
) -> None:
    respond, server = counting
    process = start(server)
    wait_for(lambda: respond.total >= answers)
    process.kill()
    finish(process)
    finish_paying_only_for_what_is_not_logged(respond, server)
    all_is_there(server)


def test_an_interrupt_finishes_running_work_and_starts_no_more(
    counting: tuple[Counting, OpenAIServer],
) -> None:
    respond, server = counting
    process = start(server)
    wait_for(lambda: respond.total >= JOBS)
    process.send_signal(signal.SIGINT)
    status, totals, err = finish(process)
    assert (status, totals["reached"], totals["not_run"]) == (130, JOBS, COUNT - JOBS), err
    assert "finishing the active runs" in err
    assert "the same command continues" in err
    assert respond.total == JOBS * CALLS
    status, totals, err = finish(start(server))
    assert (status, totals["reached"]) == (0, COUNT), err
    assert set(respond.asked.values()) == {1}
    all_is_there(server)


def test_a_second_interrupt_ends_the_batch_at_once(counting: tuple[Counting, OpenAIServer]) -> None:
    respond, server = counting
    process = start(server)
    wait_for(lambda: respond.total >= JOBS)
    process.send_signal(signal.SIGINT)
    wait_for(lambda: respond.total > JOBS)
    process.send_signal(signal.SIGINT)
    status, totals, err = finish(process)
    assert (status, totals["ended"], totals["reached"]) == (130, "stopped", 0), err
    assert "Traceback" not in err
    finish_paying_only_for_what_is_not_logged(respond, server)
    all_is_there(server)


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[None]:
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be had here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(path)], check=True)


def test_a_full_disk_is_reported_in_one_line_and_costs_nothing_twice(
    counting: tuple[Counting, OpenAIServer],
) -> None:
    respond, server = counting
    with small_disk(Path("runs"), "256k"):
        status, totals, err = finish(start(server))
        assert status not in (0, 130)
        assert totals["reached"] < COUNT
        assert "No space left on device" in err
        assert "Traceback" not in err
        subprocess.run(["mount", "-o", "remount,size=64m", "runs"], check=True)
        finish_paying_only_for_what_is_not_logged(respond, server)
        all_is_there(server)
