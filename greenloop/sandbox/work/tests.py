"""Test runs of a module, with a record of what its tests execute in instrumented files."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING

from greenloop.records import Expectation, TestRun
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.result_decoder import build_test_run, decode_events, parse_index
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import find_tested_module

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox

_MAX_SETS, _MAX_MASK_DIGITS = 1_000_000, 50_000
# Bit mask of the hits in an instrumented file, by path and test; the test '' is the import.
Hits = dict[str, dict[str, int]]


@dataclass(frozen=True)
class RecordedRun:
    """Test run, the hits of each test in the module, and the tests that start processes.

    `guest.coverage.instrumentation` defines the bits of hits.
    """

    run: TestRun
    hits: Mapping[str, int]
    starting: Collection[str] = ()

    @cached_property
    def mask(self) -> int:
        """The hits of all tests."""
        return reduce(or_, self.hits.values(), 0)


def _collect_hits(result: ProcessResult, key: str, hits: Hits) -> None:
    """Add the hits of each test to `hits`; leave out events that are not in the guest's form."""
    known: dict[int, tuple[str, int]] = {}
    for event in decode_events(result.channel_data, key)[0]:
        try:
            if event.get("event") == "hits" and event["path"] in hits:
                mask = int(event["mask"][:_MAX_MASK_DIGITS], 16)
                known[parse_index(event["number"], _MAX_SETS)] = event["path"], mask
            elif event.get("event") == "reached":
                for number in event["sets"]:
                    path, mask = known[parse_index(number, _MAX_SETS)]
                    by_test, test = hits[path], str(event["id"])
                    by_test[test] = by_test.get(test, 0) | mask
        except (LookupError, TypeError, ValueError):
            continue


def run_tests(
    sandbox: "Sandbox",
    code: str,
    tests: str | Sequence[TestFile],
    *,
    module: str | None = None,
    expected: Expectation | None = None,
    order_seed: int | None = None,
    hash_seed: int = 0,
    doctests: bool = False,
    timeout_s: float | None = None,
    plain_asserts: bool = False,
    stops_early: bool = False,
    hits: Hits | None = None,
) -> TestRun:
    """Run tests on the source of a module in a new working folder.

    `tests` is the source of one file, or several files; `module` is by default found from their
    imports. With `expected` the run passes only if exactly these tests report. `order_seed`
    shuffles the tests, `doctests` also runs those of all files. `timeout_s` can only shorten the
    limit. With `plain_asserts` the run takes less time, and failures have no explanation. With
    `stops_early` it ends with the first test that fails. The keys of `hits` are the paths of
    instrumented files; what the tests execute of them is added to its values.

    Raises:
        SandboxError: no process can be started.
        ValueError: there is no test file, or a name is invalid or given twice.
    """
    module, tests = _resolve_tests(tests, module, sandbox.packages.import_names)
    files = ((f"{module}.py", code), *((item.name, item.code) for item in tests))
    payload = {
        "targets": [item.name for item in tests],
        "order_seed": order_seed,
        "traced": list(hits or ()),
        "doctests": [name for name, _ in files] if doctests else [],
        "plain_asserts": plain_asserts,
        "stops_early": stops_early,
    }
    limit_s = timeout_s and min(timeout_s, sandbox.limits.timeout_s)
    count = len(expected.ids) if expected else 0
    job = Job("tests", files, payload, hash_seed, sandbox.packages, limit_s, items=count)
    return run_test_job(sandbox, job, dict(files), expected, hits)


def run_test_job(
    sandbox: "Sandbox",
    job: Job,
    files: Mapping[str, str],
    expected: Expectation | None,
    hits: Hits | None,
) -> TestRun:
    """Run a job with tests, and add to `hits`; `files` are the sources by name."""
    result = sandbox.run(job)
    if hits is not None:
        _collect_hits(result, job.key, hits)
    limits = job.apply_limits(sandbox.limits)
    return build_test_run(result, expected, job.key, limits, files)


def _resolve_tests(
    tests: str | Sequence[TestFile], module: str | None, known: Collection[str]
) -> tuple[str, Sequence[TestFile]]:
    """Return the name of the module and the test files; `known` are names of packages."""
    if not tests and not isinstance(tests, str):
        raise ValueError("no test file was given")
    source = tests if isinstance(tests, str) else tests[0].code
    module = module or find_tested_module(source, known)
    return module, [TestFile(f"test_{module}.py", tests)] if isinstance(tests, str) else tests
