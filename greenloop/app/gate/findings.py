"""What a change lacks, as sentences for the agent that made it, most important first."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening import WeakenedTest
from greenloop.project.weakening.checks import hides_failure
from greenloop.project.weakening.tests import read_tests
from greenloop.records import Failure, Report
from greenloop.records.evidence.mutation import Survivor
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import is_test_path

MAX_SURVIVORS = 5
MAX_LINES = 40
_MAX_PLACES = 8
_ANSWERED = re.compile(r"#\s*greenloop:[\w ]*\bbecause +\w+ +\w+.*")
_DOCUMENTS = (".md", ".rst", ".txt", ".adoc")
_UNEXPLAINED = "if the task asks for it, say so in a docstring, a document or a new test"
_HEAD = "greenloop: this change is not done. Mend these, or say why one of them is right as it is:"


@dataclass(frozen=True)
class Findings:
    """What blocks an agent, and what only a person can judge."""

    blocking: tuple[str, ...] = ()
    for_person: tuple[str, ...] = ()

    def format_message(self) -> str:
        """Return the text for the agent: at most 40 lines."""
        lines = [f"- {item}" for item in self.blocking]
        more = len(lines) - (MAX_LINES - 2)
        shown = lines if more <= 0 else [*lines[: MAX_LINES - 2], f"- and {more} more"]
        return "\n".join([_HEAD, *shown])


def explains_expectations(diff: ProjectDiff, changed_paths: Sequence[str]) -> bool:
    """Return whether a change says itself that it alters behaviour: by a new test or a document.

    A new or changed docstring of code counts as a document.
    """
    if any(path.endswith(_DOCUMENTS) for path in changed_paths):
        return True
    before = {path: text or "" for path, text in diff.before.items()}
    after = {path: diff.tree.texts.get(path, "") for path in before}
    tests = [path for path in before if is_test_path(path)]
    old, new = (set(read_tests({path: i[path] for path in tests})) for i in (before, after))
    code = [path for path in before if not is_test_path(path)]
    return bool(new - old) or any(
        _list_docstrings(before[path]) != _list_docstrings(after[path]) for path in code
    )


def _list_docstrings(text: str) -> list[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(parse_or_empty(text)) if isinstance(node, documented)]
    return [doc for node in nodes if (doc := ast.get_docstring(node))]


def collect_findings(
    loosened: Sequence[str],
    weakened: Sequence[WeakenedTest],
    report: Report | None,
    diff: ProjectDiff,
    changed_paths: Sequence[str],
    *,
    said: str = "",
) -> Findings:
    """Return what to mend: rules that were loosened, tests, failures, untested lines, mutants.

    The report is None where nothing could be measured. `said` is the agent's last message: a
    survivor whose place it names was answered there.
    """
    outdated, silent = _list_compared(report)
    excused = [item for item in weakened if _follows_behaviour(item, outdated)]
    lost = [item.says for item in weakened if item not in excused]
    changed = [item.says for item in excused]
    blocking = [*loosened, *lost, *_list_silent(silent, weakened, diff)]
    is_explained = explains_expectations(diff, changed_paths)
    blocking += [] if is_explained else [f"{item}; {_UNEXPLAINED}" for item in changed]
    if report is not None and report.verdict == "failed":
        blocking += _list_failures(report)
    elif report is not None:
        blocking += [*_list_swallowing(report, diff), *_list_untested(report)]
        blocking += [*_list_idle_tests(report), *_list_survivors(report, diff.tree.texts, said)]
    shown = (*changed, *_list_answers(diff))
    return Findings(tuple(dict.fromkeys(blocking)), shown)


def _list_answers(diff: ProjectDiff) -> Iterator[str]:
    """Yield the new comments that answer a survivor: whether they are right, a person can tell."""
    for path, lines in diff.lines.items():
        text = diff.tree.texts[path].split("\n")
        for line in sorted(lines & {*range(1, len(text) + 1)}):
            if found := _ANSWERED.search(text[line - 1]):
                yield f"{path}:{line}: {found[0]}"


def _list_compared(report: Report | None) -> tuple[Collection[str], Collection[str]]:
    """Return the tests that fail on the changed code as they were, and those that do not run now."""
    found = report.change.baseline if report is not None and report.change else None
    return (found.outdated, found.silent) if found else ((), ())


def _follows_behaviour(item: WeakenedTest, outdated: Collection[str]) -> bool:
    """Return whether a test is another one because the code does something else now.

    Then it is a matter of the task whether that is right.
    """
    if item.kind == "expectation":
        return True
    is_kind = item.kind in ("removed", "fewer checks", "looser")
    return is_kind and item.is_replaced and item.was in outdated


def _list_silent(
    silent: Collection[str], weakened: Sequence[WeakenedTest], diff: ProjectDiff
) -> Iterator[str]:
    """Yield tests that stand where they stood, passed before, and do not run now."""
    named = {item.was for item in weakened}
    paths = {test.partition("::")[0] for test in silent}
    there = read_tests({path: diff.tree.texts.get(path, "") for path in paths})
    for test in silent:
        if test in there and test not in named:
            path, _, name = test.partition("::")
            yield f"{path}: {name} passed before, and does not run now"


def _list_swallowing(report: Report, diff: ProjectDiff) -> Iterator[str]:
    """Yield new handlers that hide every exception, where no test runs them."""
    coverage = report.evidence.coverage
    missed = set(coverage.missed_places) if coverage is not None else set()
    for path, lines in diff.lines.items():
        nodes = ast.walk(parse_or_empty(diff.tree.texts[path]))
        handlers = (i for i in nodes if isinstance(i, ast.ExceptHandler) and i.lineno in lines)
        for node in filter(hides_failure, handlers):
            if f"{path}:{node.body[0].lineno}" in missed:
                yield (
                    f"{path}:{node.lineno} hides every exception, and no test runs it: catch what "
                    "is expected, and test what the caller gets then"
                )


def _list_failures(report: Report) -> Iterator[str]:
    for failure in report.failures:
        yield f"{failure.test} fails: {_describe(failure)}"
    if not report.failures:
        yield from report.reasons


def _describe(failure: Failure) -> str:
    first = failure.message.strip().partition("\n")[0][:200]
    return f"{failure.exception}: {first}" if first else failure.exception


def _list_untested(report: Report) -> Iterator[str]:
    """Yield the changed lines that no test runs, where too many are."""
    coverage = report.evidence.coverage
    if coverage is None or coverage.reached:
        return
    places = _join_places(coverage.missed_places or coverage.missed_branches)
    yield f"no test runs {places}: add tests that call the new behaviour and assert what it returns"


def _join_places(places: Sequence[str]) -> str:
    """Return `path:line` places as text, lines that follow each other as `path:first-last`."""
    spans: list[tuple[str, str, str]] = []
    for place in dict.fromkeys(places):
        path, _, line = place.rpartition(":")
        follows = spans and spans[-1][0] == path and line.isdigit() and spans[-1][2].isdigit()
        if follows and int(line) == int(spans[-1][2]) + 1:
            spans[-1] = (path, spans[-1][1], line)
        else:
            spans.append((path, line, line))
    shown = [f"{p}:{a}" if a == b else f"{p}:{a}-{b}" for p, a, b in spans[:_MAX_PLACES]]
    more = len(spans) - len(shown)
    return ", ".join(shown) + (f" and {more} more places" if more > 0 else "")


def _list_idle_tests(report: Report) -> Iterator[str]:
    """Yield what is wrong with new and changed tests that pass whatever the code does."""
    found = report.evidence
    if found.empty_bodies is not None and not found.empty_bodies.reached:
        yield (
            "the tests pass without the bodies of the changed functions: assert what these return "
            "or change"
        )
    if found.assertion_mutation is not None and not found.assertion_mutation.reached:
        yield "new tests pass when their expected values are changed: assert on results of the code"
    for name in found.returning:
        yield f"{name} returns a value, which pytest ignores: assert it"


def _list_survivors(report: Report, texts: Mapping[str, str], said: str) -> Iterator[str]:
    """Yield the mutants of the changed lines that no test notices, where these are too many."""
    mutation = report.evidence.mutation
    wanted = report.evidence.thresholds.mutation_score
    if mutation is None or mutation.score is None or mutation.score >= wanted:
        return
    reached = (item for item in mutation.survived if item.reached)
    left = (item for item in reached if not _is_answered(item, texts, said))
    seen: set[str] = set()
    for survivor in sorted(left, key=lambda item: (item.path, item.line)):
        if survivor.place not in seen and len(seen) < MAX_SURVIVORS:
            seen.add(survivor.place)
            yield f"{survivor.place} no test notices this fault: {survivor.question}"


def _is_answered(survivor: Survivor, texts: Mapping[str, str], said: str) -> bool:
    """Return whether a comment at the line, or the agent's message, says why no test is needed."""
    lines = texts.get(survivor.path, "").split("\n")
    around = lines[max(0, survivor.line - 2) : survivor.line]
    return any(map(_ANSWERED.search, around)) or f"{survivor.path}:{survivor.line}" in said
