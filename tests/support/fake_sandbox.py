"""A sandbox that starts no process: which tests a module fails is read from a table."""

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch

from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.testsuite.parser import parse_test_functions


class FakeSandbox(Sandbox):
    """Answers test runs only; all else is refused, so that its evidence is missing.

    The table has, for a passage of a module's source, patterns of the names of tests that fail; the first
    passage that is found counts. Modules without one (stubs, empty bodies) fail all tests. So does a test
    whose text was not first seen with such a module: its assertions were changed. A module with `EXTRA`
    adds a test.
    """

    info = SandboxInfo(backend="fake", isolation="nothing runs")

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._table, self._seen = table, set[str]()

    def run(self, job: Job) -> ProcessResult:
        if job.kind != "tests":
            raise SandboxError(f"a fake sandbox has no answer to a job of {job.kind}")
        (_, code), *tests = job.files
        passage = next(item for item in self._table if item in code)
        results: dict[str, bool] = {}
        for name, text in tests:
            for test in parse_test_functions(text):
                source = test.source(text)
                self._seen |= set() if passage else {source}
                fails = any(fnmatch(test.name, item) for item in self._table[passage])
                results[f"{name}::{test.name}"] = not fails and source in self._seen
        results |= {f"{name}::test_extra": True for name, _ in tests if "EXTRA" in code}
        return _report(job, results, list(self._table).index(passage))


def _report(job: Job, results: Mapping[str, bool], case: int) -> ProcessResult:
    """Return what pytest's plug-in reports of these tests; True: passed."""
    events: list[dict[str, object]] = [{"event": "collected", "ids": list(results)}]
    for test, passed in results.items():
        if not passed:
            failure = {"phase": "call", "exception": "AssertionError", "frames": [], "output": ""}
            message = f"{test} fails, case {case}"
            events.append({"event": "failure", "id": test, "message": message, **failure})
        outcome = "passed" if passed else "failed"
        events.append({"event": "test", "id": test, "outcome": outcome, "duration_s": 0.0})
    status = int(not all(results.values()))
    events.append({"event": "end", "exit_status": status})
    lines = (f"{job.key} {json.dumps(item)}\n" for item in events)
    return ProcessResult("finished", status, b"", "".join(lines).encode(), 0.0)
