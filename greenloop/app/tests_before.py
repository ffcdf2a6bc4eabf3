"""Runs of a project's earlier tests on the code before a change and after it."""

import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

from greenloop.project.diff import ProjectDiff
from greenloop.project.runner import ProjectRunner
from greenloop.project.weakening.configuration.collected_files import is_collected, list_patterns
from greenloop.project.weakening.tests import ComparedTest, pair_tests, read_tests
from greenloop.records import Baseline, TestRun
from greenloop.testsuite.parser import is_test_path, parse_test_functions

FOR_FOLDER = ("conftest.py", "__init__.py")  # serve a whole folder, though no test names them
_ENDED: Final = "finished"
_SHARE = 0.6  # share of the limit for the first run, which selects the tests of the next ones
_ASSERTING = ("AssertionError", "Failed")  # names of exceptions; `Failed` is that of pytest.fail
_HEAD = re.compile(r"\bdef (\w+)")


def find_readers(diff: ProjectDiff) -> dict[str, str]:
    """Return the test files that use a changed data or helper file, each with that file.

    A test file uses a file if it names the file or one of its folders, or is below its conftest.
    """
    found: dict[str, str] = {}
    changed = sorted(diff.data, key=lambda path: diff.data[path] is None)  # new files come last
    for data in (*changed, *list_helping(diff)):
        above, slash, name = data.rpartition("/")
        parts = {PurePosixPath(part).stem for part in data.split("/")} - {"test", "tests"}
        for path, text in diff.texts_before.items():
            below = name in FOR_FOLDER and path.startswith(above + slash)
            if is_test_path(path) and (below or any(i in f"{path}\n{text}" for i in parts)):
                found.setdefault(path, data)
    return found


def list_helping(diff: ProjectDiff) -> Iterator[str]:
    """Yield the changed test files without tests, such as helpers."""
    patterns = list_patterns(diff.tree)
    for path, text in diff.before.items():
        is_changed = is_test_path(path) and text != diff.tree.texts.get(path)
        if is_changed and not (is_collected(path, patterns) and parse_test_functions(text or "")):
            yield path


def list_functions(texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the test functions of test files as `path::name`."""
    for path in filter(is_test_path, texts):
        yield from (f"{path}::{item.name}" for item in parse_test_functions(texts[path]))


@dataclass(frozen=True)
class EarlierTests:
    """Results of the earlier versions (`texts`) of test files that changed or whose data changed.

    `before` is their run on the old code and data, `now` on the changed code. If some tests fail
    only in `now`, `today` is the run of the files' present versions, and of new files, on the old code.
    If one of the first two runs did not finish, there is nothing to compare.
    """

    texts: Mapping[str, str]
    before: TestRun
    now: TestRun
    today: TestRun | None = None

    @property
    def is_finished(self) -> bool:
        return self.before.ending == self.now.ending == _ENDED


def run_earlier_tests(
    runner: ProjectRunner, diff: ProjectDiff, only: Collection[str] | None, limit_s: float
) -> EarlierTests | None:
    """Run the earlier tests that a change touches; of those with changed data only files in `only`.

    On the old code only tests run that do not pass on the changed code. Returns None if there are
    no tests.
    """
    texts = diff.tree.texts
    tests = {p: old for p, old in diff.before.items() if old is not None and is_test_path(p)}
    changed = {path: old for path, old in tests.items() if old != texts.get(path)}
    beside = [path for path in find_readers(diff) if only is None or path in only]
    earlier = {path: diff.texts_before[path] for path in beside} | changed
    patterns = list_patterns(diff.tree)
    earlier = {path: text for path, text in earlier.items() if is_collected(path, patterns)}
    files = sorted(earlier)
    began, for_each = time.monotonic(), {"timeout_s": limit_s * _SHARE}
    if not files:
        return None
    if (now := runner.run(changed | diff.data, files, **for_each)).ending != _ENDED:
        return EarlierTests(earlier, now, now)
    for_each = {"timeout_s": max(limit_s - (time.monotonic() - began), 1.0)}
    left = _list_not_passed(now, earlier)  # tests that pass are taken to have passed before
    code = {path: text for path, text in diff.all_before.items() if not is_test_path(path)}
    failing = {test.partition("::")[0] for test in left}
    new = [p for p, old in diff.before.items() if old is None and is_collected(p, patterns)]
    there = [path for path in files if path in texts and (path in failing or path in changed)] + new
    with ThreadPoolExecutor(1) as pool:
        is_asked = code and there and any("::" in test for test in left)
        begun = pool.submit(runner.run, code, there, **for_each) if is_asked else None
        before = runner.run(diff.all_before, left, **for_each) if left else now
    if before.ending != _ENDED:
        return EarlierTests(earlier, before, now)
    held = (item for item in now.tests if item.outcome == "passed")
    before = before.model_copy(update={"tests": (*before.tests, *held)})
    is_lost = bool(list_ended(before, "passed") - list_ended(now, "passed"))
    today = begun.result() if begun and is_lost else None
    return EarlierTests(earlier, before, now, today) if before.tests else None


def _list_not_passed(run: TestRun, texts: Mapping[str, str]) -> list[str]:
    """Return the files with tests that do not run, and the functions that do not pass."""
    ended = _list_reported(run)
    failing = {name_function(i.id) for i in run.tests if i.outcome not in ("passed", "xfailed")}
    reported = {test.partition("::")[0] for test in ended}
    written = {path: parse_test_functions(text) for path, text in texts.items()}
    hidden = [
        p for p, tests in written.items() if any(f"{p}::{i.name}" not in ended for i in tests)
    ]
    return [*sorted({*hidden, *(texts.keys() - reported)}), *sorted(failing)]


def _list_reported(run: TestRun) -> set[str]:
    """Return the functions with a case that was run or skipped."""
    return {name_function(item.id) for item in run.tests}


def compare_tests(
    diff: ProjectDiff, baseline: Baseline, earlier: EarlierTests, only: Collection[str] | None
) -> dict[str, Any]:
    """Return the fields of `BaselineResult` on earlier tests that passed before the change.

    They are the test functions that no longer run, have fewer cases, or whose old versions fail
    now, also in an assertion. `only` are the files of the baseline, if not all.
    """
    if not earlier.is_finished:
        return {"unfinished": True}
    ended = list_ended(earlier.before, "passed")
    passed = {
        test for test in ended if only is None or test.partition("::")[0] in {*only, *diff.before}
    }
    again = list_ended(earlier.now, "passed", "skipped", "xfailed")
    now_run = (*baseline.locked, *baseline.red, *baseline.flaky)
    run_now = set(map(name_function, now_run))
    begun_now = _list_reported(earlier.now)
    loaded = {test.partition("::")[0] for test in begun_now}
    lost = {name_function(test) for test in passed - again}
    failing = {i for i in lost if i in begun_now or i.partition("::")[0] not in loaded}
    wrong = {i.test for i in earlier.now.failures if i.exception in _ASSERTING}
    refuted = {name_function(test) for test in passed & wrong}
    functions = set(map(name_function, passed))
    now = {path: diff.tree.texts.get(path, "") for path in {*earlier.texts, *diff.before}}
    now = {path: text for path, text in now.items() if is_test_path(path)}
    begun = {
        test.rpartition("::")[2] for test in run_now - functions if test.startswith(tuple(now))
    }
    silent = set(_find_silent(functions - run_now, begun, run_now, earlier.texts, now))
    defined = list_defined({**diff.texts_before, **diff.tree.texts})
    silent = {test for test in silent if test.rpartition("::")[2] in defined}
    found = {"compared": functions, "silent": silent, "outdated": failing, "refuted": refuted}
    found["indifferent"] = _list_whole(earlier.today) if earlier.today else set()
    found["extended"] = _list_extended(earlier)
    asked = passed & list_ended(earlier.now, "passed")
    name = partial(_name_owner, defined=defined)
    counts = [Counter(map(name, tests)) for tests in (asked, now_run)]
    fewer = {test: number for test, number in (counts[0] - counts[1]).items() if counts[1][test]}
    return {**{key: tuple(sorted(names)) for key, names in found.items()}, "fewer": fewer}


def _list_extended(earlier: EarlierTests) -> set[str]:
    """Return the functions with new cases, which fail on the old code and so require the change."""
    runs = (earlier.now, earlier.today) if earlier.today else ()
    failed = [Counter(map(name_function, list_ended(run, "failed"))) for run in runs]
    return set(failed[1] - failed[0]) if failed else set()


def _list_whole(run: TestRun) -> set[str]:
    """Return the functions whose cases all pass."""
    others = (item.id for item in run.tests if item.outcome != "passed")
    return set(map(name_function, list_ended(run, "passed"))) - set(map(name_function, others))


def _find_silent(
    gone: Set[str],
    begun: Set[str],
    run_now: Set[str],
    old: Mapping[str, str],
    now: Mapping[str, str],
) -> Iterator[str]:
    """Yield the tests of `gone` that still exist and do not run now.

    A test that no file has is inherited, and exists if its class does. `begun` are the names of new
    tests.
    """
    written = read_tests(old)
    successors = pair_tests(written, read_tests(now))
    for test in gone:
        path, *classes, name = test.split("::")
        stands = ""
        if test in successors:
            stands, name = successors[test].test, successors[test].name
        elif test not in written and classes:
            is_there = all(f"class {item}" in now.get(path, "") for item in classes)
            stands = test if is_there else ""
        if stands and stands not in run_now and name not in begun:
            yield test


def read_both(
    paths: Collection[str], diff: ProjectDiff
) -> tuple[dict[str, ComparedTest], dict[str, ComparedTest]]:
    """Return all tests in some files, before the change and now."""
    old, new = diff.texts_before, diff.tree.texts
    return read_tests({p: old.get(p, "") for p in paths}), read_tests(
        {p: new.get(p, "") for p in paths}
    )


def list_defined(texts: Mapping[str, str]) -> set[str]:
    """Return the names of the functions in test files."""
    return {i for path in texts if is_test_path(path) for i in _HEAD.findall(texts[path])}


def _name_owner(test: str, defined: Collection[str]) -> str:
    """Return the function of a case, or the class or file that generates it."""
    function = name_function(test)
    owner, _, name = function.rpartition("::")
    return function if name in defined or not owner else owner


def list_ended(run: TestRun, *outcomes: str) -> set[str]:
    return {item.id for item in run.tests if item.outcome in outcomes}


def name_function(test: str) -> str:
    return test.partition("[")[0]
