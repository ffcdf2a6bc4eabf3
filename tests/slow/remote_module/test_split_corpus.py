"""Which test files run unchanged when tests and code are in two processes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.process_isolation import measure
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.stubs import with_empty_bodies
from tests.integration.sandbox.conftest import isolating_kinds, made
from tests.support.module_corpus import Pair, pairs

# Why each of these needs one process: `eval(repr(thing))`, a weak reference that dies, a pickle of
# the code's class, its source and doctests, the module started as a program.
NOT_SPLIT = {"eval_repr", "observers_weak", "pickled", "source_inspected", "subprocess_cli"}
SHARE = 0.85


def over_all(work: Callable[[Sandbox, Pair], TestRun]) -> dict[str, TestRun]:
    if sys.platform != "linux":
        pytest.skip("no wall on this system")
    kinds = [kind for kind in isolating_kinds() if kind in ("bubblewrap", "native")]
    if not kinds:
        pytest.skip("the kernel gives no namespaces")
    with made(kinds[-1]) as box, ThreadPoolExecutor(2) as pool:
        corpus = pairs()
        runs = pool.map(lambda pair: work(box, pair), corpus)
        return {pair.name: run for pair, run in zip(corpus, runs, strict=True)}


def test_most_run_unchanged_and_the_others_say_so() -> None:
    runs = over_all(
        lambda box, pair: box.run_tests(pair.code, pair.tests, module=pair.name, form="best")
    )
    assert [name for name, run in runs.items() if not run.passed] == []
    shared = {name for name, run in runs.items() if run.form == "shared"}
    assert shared <= NOT_SPLIT
    assert all(runs[name].not_split for name in shared)
    assert 1 - len(shared) / len(runs) >= SHARE


def test_a_hollow_module_never_passes() -> None:
    runs = over_all(
        lambda box, pair: box.run_tests(
            with_empty_bodies(pair.code), pair.tests, module=pair.name, form="split"
        )
    )
    assert [name for name, run in runs.items() if run.passed] == []


def test_what_does_not_run_split_is_not_blamed() -> None:
    blamed: dict[str, tuple[str, ...]] = {}

    def taken(box: Sandbox, pair: Pair) -> TestRun:
        files = [TestFile(f"test_{pair.name}.py", pair.tests)]
        run = box.run_tests(pair.code, files, module=pair.name)
        if pair.name in NOT_SPLIT:
            found = measure(GradingContext(box, pair.code, files, pair.name, run))
            blamed[pair.name] = found.only_beside
        return run

    over_all(taken)
    assert blamed == dict.fromkeys(NOT_SPLIT, ())
