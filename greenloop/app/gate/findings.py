"""Findings on a change as sentences for the agent that made it, the most important first."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from greenloop.app.gate.earlier_tests import drop_selecting, list_reread, list_silent
from greenloop.app.gate.explanations import Explanations
from greenloop.app.gate.functions import ANSWERED, ChangedFunctions, find_added, find_moved
from greenloop.app.gate.lost_data import list_lost_data
from greenloop.app.gate.special_cases import find_special_cases
from greenloop.app.gate.words import list_words
from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening import WeakenedTest
from greenloop.project.weakening.doctests import EXAMPLE
from greenloop.project.weakening.skips import hides_failure
from greenloop.records import BaselineResult, Failure, Report
from greenloop.syntax.parse import parse_or_empty
from greenloop.syntax.source import LINE_END

MAX_LINES, _MAX_FAILURES = 40, 10
_IF_OUTDATED = ("exchanged", "isolated")  # no finding if the old test passes on the changed code
_MANY_FILES = 3  # test files whose expectations change alike: so many mean that this is the task
_SAID = ("data", "indifferent", "isolated")  # these findings say that the old version fails
_UNEXPLAINED = "if the task asks for it, say so in a docstring, a document or a new test"
_FAILING = f"the old version fails on this change: fix the code, or {_UNEXPLAINED}"
_END = "greenloop: this change is not done. Fix these points; where one is right as it is, tell the user why."


@dataclass(frozen=True)
class Findings:
    """Findings that block an agent, and findings that only a person can judge."""

    blocking: tuple[str, ...] = ()
    for_person: tuple[str, ...] = ()

    def format_message(self) -> str:
        """Return the text for the agent: at most 40 lines."""
        lines = [f"- {item}" for item in self.blocking]
        more = len(lines) - (MAX_LINES - 2)
        shown = lines if more <= 0 else [*lines[: MAX_LINES - 2], f"- and {more} more"]
        return "\n".join([*shown, _END])


def collect_findings(
    loosened: Sequence[str],
    weakened: Sequence[WeakenedTest],
    report: Report | None,
    diff: ProjectDiff,
    document_lines: Sequence[str],
    *,
    said: str = "",
) -> Findings:
    """Return all findings: loosened configuration, weak tests, failures, untested lines, mutants.

    The report is None if nothing could be measured. `said` is the agent's last message: a survivor
    counts as answered if the message names its place.
    """
    known = _get_compared(report)
    weakened = _add_runs(weakened, report, known, diff)
    explanations = Explanations(diff, document_lines, known)
    excused = [item for item in weakened if _follows_behaviour(item, known, explanations)]
    lost = [_ask_for(i, known) for i in _show_few(i for i in weakened if i not in excused)]
    silent = list(list_silent(known, weakened, diff))
    silent += [] if silent or lost else list_lost_data(known, diff)
    if known.compared and not silent:  # a collection hook has left out no test
        loosened = drop_selecting(loosened, diff)
    blocking = [*loosened, *lost, *silent]
    asked = [
        i
        for i in excused
        if (i.kind != "rewritten" or i.was in known.refuted)
        and not (_holds_still(i, known) or explanations.cover(i))
    ]
    asked = _drop_common(asked)
    blocking += [_ask_to_explain(item, known) for item in _show_few(asked)]
    blocking += find_special_cases(diff, explanations.lines)
    if report is not None and report.verdict == "failed":
        blocking += _list_failures(report.failures)
        blocking = blocking or [*report.reasons]
    elif report is not None:
        places = find_moved(diff), find_added(diff)
        functions = ChangedFunctions(report.evidence, diff.tree.texts, *places)
        untold = any(map(diff.before.get, known.red))  # a changed file that cannot be collected
        untold = untold or explanations.are_for_other_machines(known.skipped)
        told = (_list_swallowing(report, diff, functions), functions.list_untested())
        blocking += [] if untold else [line for lines in told for line in lines]
        blocking += _list_idle_tests(report)
        blocking += [] if untold else functions.list_survivors(said)
    reviewed = _show_few(item for item in excused if item not in asked)
    shown = (*(item.says for item in reviewed), *_list_answers(diff))
    return Findings(tuple(dict.fromkeys(blocking)), shown)


def _add_runs(
    weakened: Sequence[WeakenedTest],
    report: Report | None,
    known: BaselineResult,
    diff: ProjectDiff,
) -> list[WeakenedTest]:
    """Return the weakened tests, corrected by the runs of the earlier tests and of today's."""
    running = {item.id.partition("[")[0] for item in report.tests} if report else set()
    failing = {item.test.partition("[")[0] for item in report.failures} if report else set()
    found = [i for i in weakened if i.kind not in _IF_OUTDATED or _fails_now(i, known)]
    found = [i for i in found if i.kind != "removed" or i.was not in running]  # it is inherited
    return [*found, *list_reread(known, {*failing, *known.silent, *(i.was for i in found)}, diff)]


def _drop_common(items: Sequence[WeakenedTest]) -> list[WeakenedTest]:
    """Return the items without those that change a word as the tests of two other files do."""
    texts = [(item.before, item.after) for item in items]
    words = [list_words(one) ^ list_words(other) if other else set() for one, other in texts]
    files = [item.test.partition("::")[0] for item in items]
    places = {(word, file) for some, file in zip(words, files, strict=True) for word in some}
    counts = Counter(word for word, _ in places)
    common = {word for word, count in counts.items() if count >= _MANY_FILES}
    return [item for item, some in zip(items, words, strict=True) if common.isdisjoint(some)]


def _show_few(items: Iterable[WeakenedTest]) -> Iterator[WeakenedTest]:
    """Yield at most two findings per test and kind; the second one counts the others."""
    alike: dict[tuple[str, str], list[WeakenedTest]] = {}
    for item in items:
        alike.setdefault((item.test, item.kind), []).append(item)
    for one, *others in alike.values():
        yield one
        if others:
            yield replace(others[0], more=len(others) - 1)


def _list_answers(diff: ProjectDiff) -> Iterator[str]:
    """Yield the new comments that answer a survivor, which a person has to judge."""
    for path, lines in diff.lines.items():
        text = LINE_END.split(diff.tree.texts[path])
        for line in sorted(lines & {*range(1, len(text) + 1)}):
            if found := ANSWERED.search(text[line - 1]):
                yield f"{path}:{line}: {found[0]}"


def _get_compared(report: Report | None) -> BaselineResult:
    """Return the results of the earlier tests of changed files, empty if they are not known."""
    found = report.change.baseline if report is not None and report.change else None
    return found or BaselineResult()


def _holds_still(item: WeakenedTest, known: BaselineResult) -> bool:
    """Return whether the old test passes on the changed code: the new one has other input."""
    return _is_among(item.was, known.compared, known) and not _fails_now(item, known)


def _fails_now(item: WeakenedTest, known: BaselineResult) -> bool:
    """Return whether the old test fails on the changed code; true for doctests (not run)."""
    return _is_among(item.was, known.outdated, known) or item.was.endswith(EXAMPLE)


def _is_among(test: str, tests: Collection[str], known: BaselineResult) -> bool:
    """Return whether a test is in `tests`, under its own node id or that of a subclass."""
    name = test[test.rfind("::") :]
    is_inherited = test.count("::") > 1 and test not in known.compared
    return test in tests or (is_inherited and any(item.endswith(name) for item in tests))


def _follows_behaviour(
    item: WeakenedTest, known: BaselineResult, explanations: Explanations
) -> bool:
    """Return whether a test has changed with the code's behaviour, or is replaced by equal tests.

    Whether that is right depends on the task.
    """
    if item.kind in ("expectation", "exchanged", "data", "indifferent", "rewritten"):
        return True
    if item.was in known.equalled:
        return True
    is_outdated = _tells_less(item) and _fails_now(item, known)
    return is_outdated and (item.is_replaced or explanations.is_documented(item))


def _tells_less(item: WeakenedTest) -> bool:
    return item.kind in ("removed", "fewer checks", "looser")


def _ask_for(item: WeakenedTest, known: BaselineResult) -> str:
    """Return the finding, with a way to explain it if the old test fails on the changed code."""
    is_outdated = _tells_less(item) and _is_among(item.was, known.outdated, known)
    return _ask_to_explain(item, known) if is_outdated else item.says


def _ask_to_explain(item: WeakenedTest, known: BaselineResult) -> str:
    is_failing = _is_among(item.was, known.outdated, known) and item.kind not in _SAID
    return f"{item.says}; {_FAILING if is_failing else _UNEXPLAINED}"


def _list_swallowing(
    report: Report, diff: ProjectDiff, functions: ChangedFunctions
) -> Iterator[str]:
    """Yield a line for each new handler that hides every exception and that no test needs.

    No test runs its body, or of `suppress` notices that it suppresses nothing.
    """
    coverage, mutation = report.evidence.coverage, report.evidence.mutation
    missed = set(coverage.missed_places) if coverage is not None else set()
    survived = {item.place for item in mutation.survived} if mutation is not None else set()
    for path, lines in diff.lines.items():
        for node in ast.walk(parse_or_empty(diff.tree.texts[path])):
            match node:
                case ast.ExceptHandler(body=[first, *_]) if hides_failure(node):
                    is_idle = f"{path}:{first.lineno}" in missed
                case ast.With(items=items) if any(map(_suppresses_all, items)):
                    is_idle = f"{path}:{node.lineno}" in survived
                case _:
                    continue
            if is_idle and node.lineno in lines and not functions.is_moved(path, node.lineno):
                yield (
                    f"{path}:{node.lineno} hides every exception, and no test needs it: catch only "
                    "what is expected, and test what the caller gets"
                )


def _suppresses_all(item: ast.withitem) -> bool:
    text = ast.unparse(item.context_expr)
    return re.search(r"\bsuppress\(.*\b(Base)?Exception\b", text) is not None


def _list_failures(failures: Sequence[Failure]) -> Iterator[str]:
    yield from (f"{item.test} fails: {_describe(item)}" for item in failures[:_MAX_FAILURES])
    if (more := len(failures) - _MAX_FAILURES) > 0:
        yield f"{more} more test{'s fail' if more > 1 else ' fails'}"


def _describe(failure: Failure) -> str:
    first = failure.message.strip().partition("\n")[0][:200]
    return f"{failure.exception}: {first}" if first else failure.exception


def _list_idle_tests(report: Report) -> Iterator[str]:
    """Yield a line for each new or changed test that passes whatever the code does."""
    found = report.evidence
    if found.empty_bodies is not None and not found.empty_bodies.reached:
        yield (
            "the tests pass without the bodies of the changed functions: assert what these return "
            "or change"
        )
    changed = found.assertion_mutation
    for item in changed.green if changed is not None else ():
        name = item.test.partition("[")[0]
        yield f"{name} passes when its expected values are changed: assert on results of the code"
    for name in found.returning:
        yield f"{name} returns a value, which pytest ignores: assert it"
