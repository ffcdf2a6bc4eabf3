"""Baseline of the tests on the original code: outcome, cost, lines and dependence on others."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from ..protocol.framing import LIVE_THREADS, NO_TEST_PASSES, NOT_LOADED
from .forks import Fork
from .server import SURVIVED

_QUICK_SECONDS = 0.05  # quick tests run first; a finer order would not be repeatable
_MAX_SCREENING_TESTS, _GRACE_SECONDS = 5, 5.0
_LONG_SECONDS = 5.0  # of all tests, above which another order is not checked in advance
_MIN_CHECKED = 3  # tests to run if their measurements are from another run
_TIMEOUT, _PASSED, _NOT_RUN = "timeout", "passed", "not_run"


class Baseline:
    """Measurements of the collected tests, by requests to the process that has collected them.

    Attributes:
        names: The node ids of the tests.
        is_collected: Whether the tests were collected on the original code.
        tests: The measurements of each test.
        dependent: Tests that pass only after others.
    """

    def __init__(self, job: Mapping[str, Any], server: Fork, requests: BinaryIO) -> None:
        self._job, self._server, self._requests = job, server, requests
        self.names: list[str] = []
        self.tests: list[dict[str, Any]] = []
        self.collect_s = 0.0
        self.is_collected = True
        self.dependent: set[int] = set()
        self._confirmed: set[int] = set()  # tests that were run alone
        self._unsteady: set[int] = set()  # tests that passed at first
        self._is_late = False

    def close(self) -> None:
        """In a fork: close the connection to the process with the tests."""
        self._requests.close()
        self._server.close()

    def prepare(self) -> str:
        """Wait for the tests and measure them, or use earlier measurements.

        Return why no edit can be tried, '' otherwise.
        """
        ready = self._server.receive(self._job["budget"].deadline)
        if not isinstance(ready, dict):
            return "the tests cannot be collected"
        if not ready["is_collected"]:
            self.is_collected = False  # a patch may make the collection succeed
            can_be = self._job["is_red"] and self._job["edits"]
            return "" if can_be else "the tests cannot be collected"
        if ready["has_threads"]:
            return LIVE_THREADS
        self.names, self.collect_s = ready["tests"], float(ready["collect_s"])
        known = {item["test"]: item for item in self._job["tests"]}
        if known and not known.keys() >= set(self.names):
            if self._job["is_red"]:
                return "other tests were collected"
            known = {}
        reason = ""
        if known:
            self._set_tests([known[name] for name in self.names])
            reason = self._explain_no_trials(bool(ready["is_loaded"]), _MIN_CHECKED)
        if not known or reason:  # earlier results may not hold in this process
            self._set_tests(self._measure_all())
            reason = self._explain_no_trials(bool(ready["is_loaded"]), 0)
        return reason

    def _set_tests(self, tests: list[dict[str, Any]]) -> None:
        self.tests, self._is_late = tests, self._job["budget"].is_over()
        self._job["budget"].keep_half()  # at least half is left for the edits
        self.ask(do="set", tests=tests)

    def _explain_no_trials(self, is_loaded: bool, checked_count: int) -> str:
        """Return why no edit can be tried, or ''; `checked_count` tests are run in any case."""
        if self._job["is_red"]:
            return ""
        if not self.list_passing():
            return "the tests used up the time limit" if self._is_late else NO_TEST_PASSES
        reaching = ("lines", "starts_processes", "is_loaded")
        if not is_loaded and not any(item[name] for item in self.tests for name in reaching):
            return f"{NOT_LOADED} {os.path.basename(self._job['path'])}"
        reason = self._check_order(checked_count)
        self._job["budget"].keep_half()
        return reason

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the server's answer. Raises EOFError or OSError if it ended or left changes."""
        self._requests.write(json.dumps(request).encode() + b"\n")
        self._requests.flush()
        answer = self._server.receive(self._job["budget"].deadline + _GRACE_SECONDS)
        if not isinstance(answer, dict):
            raise EOFError("the process with the tests ended early")
        if "failed" in answer:
            raise OSError(f"a trial changed {answer['failed']}, which cannot be put back")
        return answer

    def _measure_all(self) -> list[dict[str, Any]]:
        """Measure all tests; if a test ends its process, measure the rest in another process."""
        found: list[dict[str, Any]] = []
        while len(found) < len(self.names) and not self._job["budget"].is_over():
            found += self._measure(range(len(found), len(self.names)))
        return found + [self._describe_unknown(n) for n in range(len(found), len(self.names))]

    def _measure(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """Measure tests up to the first that ends the process or times out."""
        chosen, limit_s = list(numbers), self._job["max_test_s"]
        answer = self.ask(do="measure", numbers=chosen, cpu_s=limit_s)
        found = [{"test": self.names[item["number"]], **item} for item in answer["tests"]]
        if answer["ending"] != "verdict" and len(found) < len(chosen):
            number = chosen[len(found)]
            cost = {"cpu_s": limit_s, "wall_s": limit_s} if answer["ending"] == _TIMEOUT else {}
            found.append({**self._describe_unknown(number), **cost})
        return found

    def _describe_unknown(self, number: int) -> dict[str, Any]:
        """Describe a test without measurement, because it ended its process or time was over."""
        return {
            "number": number,
            "test": self.names[number],
            "outcome": _TIMEOUT,
            "lines": [],
            "cpu_s": 0.0,
            "wall_s": 0.0,
            "peak_bytes": 0,
            "is_loaded": False,
            "starts_processes": False,
        }

    def _check_order(self, checked_count: int) -> str:
        """Run the tests in the order of trials; if one fails, all trials keep the file's order.

        If tests take long, only the first are run: a test that fails on an edit is later run alone.
        """
        passing = self.list_passing()
        if sum(item["cpu_s"] for item in self.tests) > _LONG_SECONDS:
            passing = passing[:checked_count]
        if not passing:
            return ""
        for order in (self.sort_quick_first(passing), passing):
            answer = self.ask(do="check", numbers=order)
            if answer.get("verdict") == SURVIVED:
                self.dependent.update(passing if order != self.sort_quick_first(passing) else ())
                return ""
            if answer.get("ending") == _NOT_RUN:  # time is over, which says nothing about the tests
                return ""
        return "the tests do not pass twice on the code"

    def list_passing(self) -> list[int]:
        return [n for n, item in enumerate(self.tests) if item["outcome"] == _PASSED]

    def is_confirmed(self, answer: Mapping[str, Any]) -> bool:
        """Return whether a failing test passes alone on the original, or need not be run alone."""
        step = answer.get("step", -1)
        is_failure = isinstance(answer.get("verdict"), dict) and 0 <= step < len(self.tests)
        if self._job["is_red"] or not is_failure or step in self._confirmed | self.dependent:
            return True
        self._confirmed.add(step)
        if self._passes([step]):
            return True
        if self._passes([number for number in self.list_passing() if number <= step]):
            self.dependent.add(step)
        else:  # it passed only in a separate run, or before an edit had side effects
            self.tests[step] = {**self.tests[step], "outcome": "failed"}
            self._unsteady.add(step)
        return False

    def has_unsteady_test(self, lines: set[int]) -> bool:
        """Return whether a test that no longer passes reaches some of the lines."""
        return any(self.reaches(number, lines) for number in self._unsteady)

    def _passes(self, numbers: Sequence[int]) -> bool:
        return self.ask(do="check", numbers=numbers).get("verdict") == SURVIVED

    def reaches(self, number: int, lines: set[int]) -> bool:
        item = self.tests[number]
        return bool(item["starts_processes"]) or not lines.isdisjoint(item["lines"])

    def list_screening_tests(self) -> list[int]:
        """Return failing tests, quick ones first: nearly all patches fail on the first of them."""
        red = [n for n, item in enumerate(self.tests) if item["outcome"] == "failed"]
        red.sort(key=lambda number: (self.tests[number]["cpu_s"], number))
        late = [n for n, item in enumerate(self.tests) if item["outcome"] == _TIMEOUT]
        return (red or late)[:_MAX_SCREENING_TESTS]

    def sort_quick_first(self, numbers: Iterable[int]) -> list[int]:
        return sorted(numbers, key=lambda n: (self.tests[n]["cpu_s"] > _QUICK_SECONDS, n))
