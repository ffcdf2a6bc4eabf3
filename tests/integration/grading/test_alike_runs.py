"""Code under test sees nothing by which it could tell a changed run from an unchanged one.

A module writes down all that it can read, when it is imported and in the first test, in each kind of
run. Tests after the first one also see how those before them ended, in any kind of run.
"""

import base64
import json
import re
import zlib
from collections.abc import Sequence
from typing import Any

import pytest

from greenloop.grading import empty_bodies
from greenloop.grading.assertion_mutation import evidence
from greenloop.grading.context import GradingContext
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from tests.support.programs import read_program

# A text, so that it is still there in the run without function bodies.
LOOK = read_program(__file__, "LOOK")
MODULE = f"exec({LOOK!r})\nlook()\n\n\ndef f(n):\n    return n * n\n"
TESTS = (
    "from m import f, look\n\n\ndef test_a():\n    look()\n    assert f(2) == 4\n\n\n"
    "def test_b():\n    assert f(3) == 9\n    assert f(4) == 16\n"
)
LONG = f"\n\nTEXTS = {['text'] * 4000}\n"  # takes long to compile
# What no run can hide, by a pattern of names.
DIFFERENT = {
    "sizes of files|frame .*: source_hash": "the changed text itself",
    "random state": "chance: seeded anew in each process",
    "/proc/self/(autogroup|mountinfo)|devices of files": "the kernel counts sessions and mounts of the machine",
    "/proc/self/(maps|numa_maps|smaps_rollup|statm|status)|status (Vm|Rss).*": "memory in use",
    "/proc/self/(io|sched|schedstat|stat)|status .*_ctxt_switches": "time, and bytes of the text",
    "/proc/self/(timerslack_ns|oom_.*)": "may not be read in each kind of sandbox",
}


class Recorder:
    """A sandbox that keeps the runs that it was asked for."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.runs: list[TestRun] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    def run_tests(self, *arguments: Any, **options: Any) -> TestRun:
        self.runs.append(self._sandbox.run_tests(*arguments, **options))
        return self.runs[-1]


def sightings(run: TestRun) -> list[dict[str, str]]:
    """Return what the module saw when it was imported, and in the first test."""
    texts = re.findall("<<(.*?)>>", run.output.replace("\n", ""))
    return [json.loads(zlib.decompress(base64.b64decode(text))) for text in texts]


def differences(first: Sequence[dict[str, str]], again: Sequence[dict[str, str]]) -> list[str]:
    assert len(first) == len(again) == 2
    allowed = re.compile("|".join(DIFFERENT))
    return [
        f"{name}: {one.get(name)} | {other.get(name)}"
        for one, other in zip(first, again, strict=True)
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name) and not allowed.fullmatch(name)
    ]


@pytest.fixture(scope="module", params=["", LONG], ids=["short file", "long file"])
def runs(request: pytest.FixtureRequest, warm: Sandbox) -> dict[str, TestRun]:
    """The first run, the one without function bodies, and those with other expected values."""
    recorder, files = Recorder(warm), [TestFile("test_m.py", TESTS + request.param)]
    first = recorder.run_tests(MODULE, files, module="m")
    assert first.passed, first
    context = GradingContext(recorder, MODULE, files, "m", first)  # type: ignore[arg-type]
    assert empty_bodies.measure(context).reached  # type: ignore[union-attr]
    assert evidence.measure(context).reached
    kinds = ["first", "empty bodies", *(f"changed {n}" for n in range(len(recorder.runs) - 2))]
    return dict(zip(kinds, recorder.runs, strict=True))


def test_each_kind_of_run_is_made(runs: dict[str, TestRun]) -> None:
    """One with a changed assertion of each test, one with swapped answers, one with a canary."""
    assert list(runs) == ["first", "empty bodies", *(f"changed {n}" for n in range(3))]
    assert len({run.output for run in runs.values()}) == len(runs)


@pytest.mark.parametrize("kind", ["empty bodies", *(f"changed {n}" for n in range(3))])
def test_runs_are_alike(runs: dict[str, TestRun], kind: str) -> None:
    assert differences(sightings(runs["first"]), sightings(runs[kind])) == []


def test_a_run_in_another_order_differs(warm: Sandbox, runs: dict[str, TestRun]) -> None:
    """That of flakiness, by design: nothing is concluded from it but flakiness."""
    files = [TestFile("test_m.py", TESTS)]
    other = warm.run_tests(MODULE, files, module="m", order_seed=1, hash_seed=2)
    found = differences(sightings(runs["first"])[:1] * 2, sightings(other)[:1] * 2)
    assert any(item.startswith("hash seed: ") for item in found)
    assert any("order_seed" in item for item in found if item.startswith("jobs: "))
