"""A batch on a real Ray cluster of two nodes: one dies, budgets run out, an interrupt."""

import json
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.conftest import KEY
from tests.integration.distributed.conftest import Ended, TwoNodes, start_batch
from tests.support.many_specifications import ManySpecifications, write_specifications
from tests.support.openai_server import OpenAIServer, Reply, tool_of

pytest.importorskip("ray", reason="Ray is not installed: pip install 'greenloop[ray]'")

_PATIENCE_S = 180.0  # of a machine that is busy otherwise
_FEW_TOKENS = ("specs", "-o", "src", "--jobs", "2", "--max-tokens", "1500", "--run-dir", "shared")


class Held:
    """Answers as `ManySpecifications`, but holds every request for `tool` until the gate opens."""

    def __init__(self, tool: str) -> None:
        self._tool, self._answer = tool, ManySpecifications()
        self._open = threading.Event()
        self.waiting: list[str] = []
        self.asked: Counter[tuple[str, str]] = Counter()
        self.answered: Counter[str] = Counter()

    def __call__(self, request: dict[str, Any]) -> Reply:
        text = "\n".join(str(item["content"]) for item in request["messages"])
        found = re.search(r"number (\d)", text)
        number, tool = found[1] if found else "", tool_of(request)
        self.asked[number, tool] += 1
        if tool == self._tool and not self._open.is_set():
            self.waiting.append(number)
            self._open.wait(_PATIENCE_S)
        self.answered[tool] += 1
        return self._answer(request)

    def holds(self, count: int) -> bool:
        """Whether so many wait, and nothing else of theirs is out: tests come beside the code."""
        return len(self.waiting) == count and self.answered["generate_tests"] >= count

    def open(self) -> None:
        self._open.set()


@contextmanager
def opening(held: Held) -> Iterator[None]:
    """However a test ends, nobody is left waiting."""
    try:
        yield
    finally:
        held.open()


def until(true: Callable[[], object], command: subprocess.Popen[str]) -> None:
    """Waits for it; what the command said is shown where it does not come to pass."""
    end = time.monotonic() + _PATIENCE_S
    while not true():
        if time.monotonic() > end or command.poll() is not None:
            command.kill()
            pytest.fail(f"it did not come to pass; the command said: {command.communicate()}")
        time.sleep(0.05)


def outcomes(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_a_node_dies_and_nothing_is_lost_nor_paid_twice(nodes: TwoNodes, ended: Ended) -> None:
    """Four runs wait for their last answer when one of two nodes is switched off."""
    second = nodes.with_second()
    write_specifications(5)
    held = Held("review_code")
    with OpenAIServer(held) as server, opening(held):
        arguments = ("specs", "-o", "src", "--run-dir", "shared", "--json")
        command = nodes.start(server, *arguments)
        until(lambda: held.holds(4), command)
        folder = Path("shared")
        until(lambda: answers_kept(folder) == [3] * 4, command)
        nodes.kill(second)
        until(lambda: len(held.waiting) > 4, command)  # what was lost asks for it again
        held.open()
        status, out, err = ended(command)
    assert status == 0, err
    assert (json.loads(out)["reached"], json.loads(out)["calls"]) == (5, 20), out
    assert err.count("a worker was lost at 127.0.0.2") == 1, err
    again = {key: count for key, count in held.asked.items() if count > 1}
    assert again
    assert {tool for _, tool in again} == {"review_code"}
    assert max(again.values()) == 2
    assert len(again) == 2  # the other node went on
    results = outcomes(folder)
    assert sorted(item["id"] for item in results) == [f"top-{i}" for i in range(5)]
    assert all(Path(f"src/top_{i}.py").exists() for i in range(5))
    assert answers_kept(folder) == [4] * 5
    assert any(nodes.folder.rglob("*.log"))  # what Ray wrote is looked through too
    assert_nowhere(KEY, nodes.folder, Path())


def answers_kept(folder: Path) -> list[int]:
    """How many answers each run has there."""
    return [path.read_text().count("\n") for path in folder.glob("runs/*/answers.jsonl")]


def assert_nowhere(secret: str, *folders: Path) -> None:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                assert secret.encode() not in path.read_bytes(), path


def test_a_batch_on_ray_ends_where_its_budget_does(ended: Ended) -> None:
    """600 tokens a specification: 1,500 in all are not enough for four of them."""
    write_specifications(4)
    many = ManySpecifications()
    with OpenAIServer(many) as server:
        status, _, err = ended(start_batch(server, *_FEW_TOKENS))
    assert_within_budget(status, err, many)


@pytest.mark.slow
def test_the_budget_is_one_for_all_nodes(nodes: TwoNodes, ended: Ended) -> None:
    nodes.with_second()
    write_specifications(4)
    many = ManySpecifications()
    with OpenAIServer(many) as server:
        status, _, err = ended(nodes.start(server, *_FEW_TOKENS))
    assert_within_budget(status, err, many)


def assert_within_budget(status: int, err: str, many: ManySpecifications) -> None:
    assert status == 5, err
    assert "continues where" in err
    asked = sum(many.asked.values())
    # What is out is held back beforehand by the length of its prompt, so few may go out at once.
    assert 1 <= asked <= 1500 // 150
    assert sum(item["tokens"] for item in outcomes(Path("shared"))) == 150 * asked


@pytest.mark.slow
def test_the_rate_is_one_for_all_nodes(nodes: TwoNodes) -> None:
    """12 requests a minute: 12 at once, then one in 5 s. After six answers that were held, six runs
    ask for 18 more; held on each node alone, the rate would let all of them go out."""
    nodes.with_second()
    write_specifications(6)
    rate, waiting = 12, 6
    held = Held("parse_specification")
    with OpenAIServer(held) as server, opening(held):
        each = ("--jobs", str(waiting), "--requests-per-minute", str(rate), "--run-dir", "shared")
        command = nodes.start(server, "specs", *each)
        until(lambda: len(held.waiting) == waiting, command)
        since = time.monotonic()
        held.open()
        until(lambda: len(server.requests) >= rate, command)  # so many may go out at once
        until(lambda: time.monotonic() - since > 5, command)
        gone_out = len(server.requests) - waiting
        assert gone_out <= rate + (time.monotonic() - since) * rate / 60
        command.kill()
        command.wait()


@pytest.mark.slow
def test_ctrl_c_lets_runs_end_and_the_second_ends_them(nodes: TwoNodes, ended: Ended) -> None:
    nodes.with_second()
    write_specifications(4)
    held = Held("review_code")
    with OpenAIServer(held) as server, opening(held):
        arguments = ("specs", "-o", "src", "--jobs", "2", "--run-dir", "shared")
        command = nodes.start(server, *arguments)
        until(lambda: len(held.waiting) == 2, command)
        command.send_signal(signal.SIGINT)
        time.sleep(0.5)
        held.open()
        status, out, err = ended(command)
        assert (status, "stopped: 2 of 4" in out) == (130, True), err
        assert "finishing the active runs" in err
        held._open.clear()
        command = nodes.start(server, *arguments)
        until(lambda: len(held.waiting) == 4, command)
        command.send_signal(signal.SIGINT)
        time.sleep(0.5)
        command.send_signal(signal.SIGINT)
        assert ended(command)[0] == 130
        assert len(outcomes(Path("shared"))) == 2
        held.open()
        status, _, err = ended(nodes.start(server, *arguments))
        assert status == 0, err
    assert {count for (_, tool), count in held.asked.items() if tool != "review_code"} == {1}
    assert sum(held.asked.values()) == 16 + 2  # the two calls that were cut off
