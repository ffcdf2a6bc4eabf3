"""Changed tests, and code without function bodies, judged by what isolation has observed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from greenloop.grading import GradingContext, Plan
from greenloop.grading.assertion_mutation.evidence import measure as mutate_assertions
from greenloop.grading.empty_bodies import measure as empty_bodies
from greenloop.grading.grader import grade_run
from greenloop.records import Evidence
from greenloop.sandbox import Sandbox
from greenloop.sandbox.base import SandboxView
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.testsuite import TestFile
from tests.support.module_corpus import pairs

CODE = """class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


def half(n):
    if n % 2:
        raise ValueError("odd")
    return n // 2


def point(n):
    return Point(n)


def nothing():
    return []


LIMIT = 10
"""
PLAIN = """import pytest
from m import half

@pytest.mark.parametrize("n, want", [(2, 1), (8, 4)])
def test_even(n, want):
    assert half(n) == want

def test_odd():
    with pytest.raises(ValueError, match="odd"):
        half(3)
"""


class _Runs(SandboxView):
    """Counts the runs of the tests in a warm process, the first of which is the shared run."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox)
        self.jobs: Counter[str] = Counter()

    def run(self, job: Job) -> ProcessResult:
        self.jobs[job.kind if not job.hash_seed else "seeded"] += 1
        return super().run(job)


def grade(box: Sandbox, tests: str, code: str = CODE) -> tuple[GradingContext, Evidence, int]:
    """Return the context, the evidence, and the number of runs of the tests for it."""
    runs = _Runs(box)
    files = [TestFile("test_m.py", tests)]
    first = runs.run_tests(code, files, module="m")
    assert first.passed, first
    context = GradingContext(runs, code, files, "m", first, replace(Plan(), mutants=0))
    return context, grade_run(context), runs.jobs["tests"] - 1


def measure_by_runs(context: GradingContext) -> tuple[object, object]:
    """Return the evidence of runs of the tests, for which nothing was observed."""
    alone = replace(context, shared=None, _scenarios={}, _remembered={})
    return mutate_assertions(alone), empty_bodies(alone)


def test_tests_of_plain_values_are_not_run_again(warm: Sandbox) -> None:
    context, evidence, runs = grade(warm, PLAIN)
    assert runs == 0
    assert (evidence.assertion_mutation, evidence.empty_bodies) == measure_by_runs(context)
    assert evidence.assertion_mutation is not None
    assert (evidence.assertion_mutation.controlled, evidence.assertion_mutation.edits) == (2, 4)


@pytest.mark.parametrize(
    ("why", "test"),
    [
        ("compares objects with an equality of their own", "assert point(1) == Point(1)"),
        ("is not observable", "try:\n        assert half(2) == 1\n    finally:\n        pass"),
        ("accepts another value too", "assert all(item == 4 for item in nothing())"),
    ],
)
def test_other_tests_are_run(warm: Sandbox, why: str, test: str) -> None:
    text = f"from m import Point, half, nothing, point\n\ndef test_one():\n    {test}\n"
    context, evidence, runs = grade(warm, text)
    assert runs > 0, why
    assert (evidence.assertion_mutation, evidence.empty_bodies) == measure_by_runs(context)


def test_tests_of_constants_pass_without_function_bodies(warm: Sandbox) -> None:
    text = "from m import LIMIT\n\ndef test_limit():\n    assert LIMIT == 10\n"
    context, evidence, runs = grade(warm, text)
    assert runs == 1
    assert evidence.empty_bodies is not None
    assert (evidence.empty_bodies.reached, evidence.empty_bodies.passed) == (False, 1)
    assert (evidence.assertion_mutation, evidence.empty_bodies) == measure_by_runs(context)


def test_what_stays_registered_in_the_process_is_not_held_against_the_code(warm: Sandbox) -> None:
    code = """import codecs
import functools

NAME = "upper_ascii"


def encode(text, errors="strict"):
    return text.upper().encode("ascii"), len(text)


def find(name):
    return codecs.CodecInfo(encode, None, name=name) if name == NAME else None


codecs.register(find)
upper = functools.partial(codecs.encode, encoding=NAME)
"""
    text = "from m import upper\n\ndef test_a():\n    assert upper('ab') == b'AB'\n"
    _, evidence, runs = grade(warm, text, code)
    assert runs == 1
    assert evidence.empty_bodies is not None
    assert (evidence.empty_bodies.reached, evidence.empty_bodies.failed) == (True, 1)


def test_a_module_that_cannot_be_imported_without_bodies_is_run(warm: Sandbox) -> None:
    code = CODE + "TABLE = [half(n) for n in (2, 4)]\n"
    context, evidence, runs = grade(warm, PLAIN, code)
    assert runs == 1
    assert (evidence.assertion_mutation, evidence.empty_bodies) == measure_by_runs(context)


@pytest.mark.parametrize(
    "name", ["roman", "graph", "lru_dict", "matrix", "sqlite_repo", "tokenizer"]
)
def test_both_ways_have_the_same_results(warm: Sandbox, name: str) -> None:
    pair = next(item for item in pairs() if item.name == name)
    files = [TestFile(f"test_{name}.py", pair.tests)]
    first = warm.run_tests(pair.code, files, module=name)
    context = GradingContext(warm, pair.code, files, name, first, replace(Plan(), mutants=0))
    evidence = grade_run(context)
    assert (evidence.assertion_mutation, evidence.empty_bodies) == measure_by_runs(context)
