"""Tests that a change breaks, removes, skips or weakens, and failing tests that do not count."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from greenloop.app.tests_before import (
    FOR_FOLDER,
    find_readers,
    list_ended,
)
from greenloop.project.diff import ProjectDiff
from greenloop.project.runner import ProjectRunner
from greenloop.project.weakening import (
    WeakenedTest,
    find_changed_names,
    find_removed_names,
    find_weakened_tests,
)
from greenloop.project.weakening.configuration.collected_files import is_collected, list_patterns
from greenloop.project.weakening.doctests import EXAMPLE, are_examples_run, read_examples
from greenloop.records import Baseline, BaselineResult, Failure, TestOutcome, TestRun
from greenloop.syntax.parse import PARSE_ERRORS, describe_python
from greenloop.testsuite.parser import is_test_path
from greenloop.workflow.setup.missing_modules import find_missing_module

_NOT_HERE = re.compile(r"No module named '|^fixture '\w+' not found", re.MULTILINE)
_DEFINED = re.compile(r"^\s*(?:async +def|def|class) +(\w+)", re.MULTILINE)
_MAX_SHOWN = 5


@dataclass(frozen=True)
class RedTests:
    """Red tests: those that the change breaks, with their failures, and those that do not count.

    `before` also fail without the change, `not_runnable` need `missing` modules. `ended` says how
    a suite's run ended if the change keeps it from finishing.
    """

    broken: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    before: tuple[str, ...] = ()
    not_runnable: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    ended: str = ""


def explain_red(runner: ProjectRunner, diff: ProjectDiff, baseline: Baseline) -> RedTests:
    """Classify the red tests, by running them now and their files as they were at the commit."""
    contents = runner.tree.project.all_files
    present = _list_places(contents)
    red = [test for test in baseline.red if test and test.partition("::")[0] in present]
    others = set(filter(None, baseline.red)).difference(red)
    places = sorted({test.partition("::")[0] for test in red})
    if not places:
        return RedTests(before=tuple(sorted(others)))
    failures = {item.test: item for item in runner.run({}, red).failures}
    old = diff.all_before
    were = _list_places(path for path in {*contents, *old} if old.get(path, "") is not None)
    there = [place for place in places if place in were]
    failing = runner.run(old, there).failing_tests if there else frozenset()
    known = {name: name in failing or _has_new_parameters(name, failing) for name in red}
    known |= {name: name in others for name in baseline.red if name not in known}
    lacking = {
        name
        for name in baseline.red
        if not known[name] and name in failures and _NOT_HERE.search(failures[name].message)
    }
    broken = tuple(name for name in baseline.red if not known[name] and name not in lacking)
    modules = {find_missing_module(item) for item in failures.values()} - diff.tree.module_names
    return RedTests(
        broken,
        tuple(failures[name] for name in broken if name in failures),
        tuple(name for name in baseline.red if known[name]),
        tuple(sorted(lacking)),
        tuple(sorted(filter(None, modules))),
    )


def _list_places(paths: Iterable[str]) -> set[str]:
    """Return files and their folders, which a failing collection names in place of a test."""
    return {str(place) for path in paths for place in (path, *PurePosixPath(path).parents)}


def _has_new_parameters(test: str, failing: Collection[str]) -> bool:
    """Return whether a red test already failed before, with more or fewer parameters in its id."""
    name, _, parts = test.removesuffix("]").partition("[")
    before = (other.removesuffix("]").partition("[") for other in failing)
    mine = set(parts.split("-"))
    return any(
        old == name
        and old_parts != parts
        and (mine <= (was := {*old_parts.split("-")}) or was <= mine)
        for old, _, old_parts in before
        if old_parts and parts
    )


def explain_problem(runner: ProjectRunner, diff: ProjectDiff, baseline: Baseline) -> RedTests:
    """Return what the change breaks if no test passes, or nothing if none passed before either."""
    if not diff.all_before:
        return RedTests()
    before = runner.run(diff.all_before, timeout_s=runner.suite_s)
    if before.ending != "finished" or not before.passed_count:
        return RedTests()
    ended = list_ended(before, "passed")
    failures = {
        item.test: item
        for item in baseline.failures
        if item.test not in before.failing_tests
        and (item.exception != "Timeout" or item.test in ended)  # a new test may only be slow
    }
    if baseline.failures and not failures:
        return RedTests()
    return RedTests(tuple(sorted(failures)), tuple(failures.values()), ended=baseline.problem)


def list_parts(diff: ProjectDiff) -> list[list[str] | None]:
    """Return ever smaller selections of tests, to be tried until a run ends within its time.

    They are all tests (None), the files that name a changed module or function, and the files that
    changed or use changed data.
    """
    texts, code = diff.tree.texts, [path for path in diff.before if not is_test_path(path)]
    words = {path.removesuffix("/__init__.py").removesuffix(".py").split("/")[-1] for path in code}
    old = {path: diff.before[path] or "" for path in code}
    words |= find_changed_names(old, {path: texts.get(path, "") for path in code})
    patterns = list_patterns(diff.tree)
    files = [path for path in texts if is_collected(path, patterns)]
    read = (p for p, data in find_readers(diff).items() if not data.endswith(FOR_FOLDER))
    touched = {*diff.before, *read}.intersection(files)
    related = [p for p in files if p in touched or words & {*re.findall(r"\w+", texts[p])}]
    near = [path for path in related if path in touched]
    fewer = [related, near] if len(near) < len(related) else [near]
    return [None, *filter(None, fewer)]


def build_run(baseline: Baseline, red: RedTests) -> TestRun:
    """Return the run of the tests that count."""
    return TestRun(
        ending="finished",
        exit_status=int(bool(red.broken or red.ended)),
        tests=(
            *(TestOutcome(id=name, outcome="passed") for name in baseline.locked),
            *(TestOutcome(id=name, outcome="failed") for name in red.broken),
            *(TestOutcome(id=name, outcome=item) for name, item in baseline.others.items()),
        ),
        tolerated=frozenset(baseline.others),
        failures=red.failures,
        duration_s=baseline.seconds,
    )


def summarize_baseline(baseline: Baseline, red: RedTests) -> BaselineResult:
    """Return the numbers and names of the tests for the report."""
    return BaselineResult(
        locked=len(baseline.locked),
        red=(*red.before, *red.not_runnable),
        flaky=baseline.flaky,
        skipped=tuple(test for test, how in baseline.others.items() if how == "skipped"),
    )


def list_ignored_tests(red: RedTests, flaky: Sequence[str]) -> Iterator[str]:
    """Yield a line for each kind of tests that do not count."""
    for what, names in (
        ("also fail before the change", red.before),
        ("need a package that is not installed (--allow-package)", red.not_runnable),
        ("are flaky", flaky),
    ):
        if names:
            yield f"tests that {what}, and do not count: {_format_tests(names)}"
    if red.missing:
        yield f"modules that tests import but cannot find: {', '.join(red.missing)}"


def find_weakened(diff: ProjectDiff) -> list[WeakenedTest]:
    """Return the tests that the change removes, skips or weakens."""
    before = {p: text for p, text in diff.before.items() if text is not None}
    after = {p: diff.tree.texts[p] for p in diff.lines}
    old, new = ({p: text for p, text in i.items() if _is_checking(p)} for i in (before, after))
    code = {p: text for p, text in before.items() if not is_test_path(p)}
    changed = find_changed_names(code, {p: after.get(p, "") for p in code})
    changed |= find_changed_names({}, {p: after[p] for p in after if p not in {*code, *new}})
    around = {p: text for p, text in diff.texts_before.items() if is_test_path(p)}
    removed = find_removed_names(code, diff.tree.texts)
    names = list_code_names(diff.texts_before)
    found = find_weakened_tests(old, new, removed, changed, around, names)
    if are_examples_run(files := diff.tree.project.all_files):
        data = {path: text for path, text in diff.data.items() if text and path in files}
        now = {path: after.get(path, "") for path in code}
        now |= {path: files[path].decode("utf-8", "replace") for path in data}
        examples = find_weakened_tests(code | data, now, removed, read=read_examples)
        about = tuple(f"::{name}::{EXAMPLE}" for name in changed)
        found += [i for i in examples if i.kind != "exchanged" or i.test.endswith(about)]
    return found


def list_code_names(texts: Mapping[str, str]) -> set[str]:
    """Return the names of the functions and classes that files other than tests define."""
    code = (text for path, text in texts.items() if not is_test_path(path))
    return {name for text in code for name in _DEFINED.findall(text)}


def _is_checking(path: str) -> bool:
    """Return whether a file has tests of behaviour, not benchmarks."""
    folders = path.split("/")[:-1]
    return is_test_path(path) and not any(item.startswith("bench") for item in folders)


def list_lost_tests(weakened: Iterable[WeakenedTest]) -> Iterator[str]:
    """Yield a line for each weakened test, but not for new expectations, which may be wanted."""
    is_known = ("expectation", "exchanged", "rewritten", "isolated")
    return (item.says for item in weakened if item.kind not in is_known)


def list_syntax_errors(diff: ProjectDiff) -> Iterator[str]:
    """Yield a line for each file that does not parse, if it is new or parsed before."""
    for path in sorted(diff.lines):
        before = diff.before[path]
        if (now := _find_syntax_error(diff.tree.texts[path])) and (
            before is None or not _find_syntax_error(before)
        ):
            yield f"{path}, {now} ({describe_python()})"


def _find_syntax_error(text: str) -> str:
    """Return the line and the error, or '' if the text parses."""
    try:
        ast.parse(text)
    except PARSE_ERRORS as error:
        line = error.lineno if isinstance(error, SyntaxError) else 1
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"line {line}: {type(error).__name__}: {why}"
    return ""


def _format_tests(names: Sequence[str]) -> str:
    """Return the number of tests and the first ones, each parametrized test once."""
    shown = list(dict.fromkeys(name.partition("[")[0] for name in names))
    more = ", …" if len(shown) > _MAX_SHOWN else ""
    return f"{len(names)}: {', '.join(shown[:_MAX_SHOWN])}{more}"
