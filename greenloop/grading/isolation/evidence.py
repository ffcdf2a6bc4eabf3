"""Isolation: the bodies of the tests run where no test is, their results judged where no code is.

A difference alone accuses nobody, as it may be a mistake of the analysis: the same body is also run
beside the tests, and once more apart from them. A test that passes although its body differs beside
the tests too does not count: this is also what a changed framework or helper of the tests shows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.grading.context import GradingContext
from greenloop.grading.isolation.public_names import read_module_names
from greenloop.grading.isolation.runs import (
    SEED_OF_TESTS,
    has_agreed,
    is_doubtful,
    run_rows,
)
from greenloop.grading.isolation.value_uses import find_value_uses
from greenloop.grading.isolation.whole_tests import WholeTests, compare_whole_tests
from greenloop.records import Isolated, NotObservable
from greenloop.sandbox.guest.protocol.reasons import AMBIGUOUS_EXCEPTION
from greenloop.sandbox.work.scenarios import RowOutcome
from greenloop.testsuite import TestFile
from greenloop.testsuite.scenarios import Scenario, ScenarioFile

# Some tests of good suites cannot be observed.
_MIN_METHODS = 0.75
_MIN_TESTS_OF_A_NAME = 1 / 3
_BESIDE = "gives another result beside the tests too: the analysis does not fit the test"
_UNSTEADY = "does not give the same result each time"
_NO_ROWS = "no row of it was run"
_REPLACES = "the code replaces builtins."
# What tests look at results with, and no module has a reason to replace for others.
_PURE_BUILTINS = frozenset(
    "abs all any bool callable dict enumerate filter float getattr hasattr int isinstance issubclass "
    "iter len list map max min next range repr reversed round set sorted str sum tuple type zip".split()
)


def measure(context: GradingContext) -> Isolated | str:
    """Compare the results of the tests' bodies apart from the tests; return why if none is there.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    names = context.remember(read_module_names)
    return measure_modules([context], [*names.find_public(), *names.methods])


def measure_modules(
    contexts: Sequence[GradingContext],
    names: Sequence[str],
    find_run: Callable[[Collection[str]], Collection[str]] = lambda tests: (),
) -> Isolated | str:
    """Do the same for several modules, each with tests of its own.

    `names` must be used by tests that agree, or be among those that `find_run` says these run.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    files = [(i, file, i.plan_scenarios(file)) for i in contexts for file in i.tests]
    tests = sum(len(plan.scenarios) + len(plan.not_observable) for _, _, plan in files)
    if not tests:
        return "no test function was found"
    results = [found for item in files for found in _judge_file(*item)]
    run = find_run([item.scenario.test for item in results if item.outcome == "agrees"])
    return _summarize(contexts, tests, results, [i for i in names if i not in run])


@dataclass(frozen=True)
class _Result:
    """What was found of a scenario: it agrees, differs, or is not observable for a reason."""

    scenario: Scenario
    outcome: str
    line: int = 0
    reason: str = ""
    has_objects: bool = False  # it was judged by values with operators of their own, maybe


def _summarize(
    contexts: Sequence[GradingContext],
    tests: int,
    results: Sequence[_Result],
    names: Sequence[str],
) -> Isolated:
    agreed = [item.scenario for item in results if item.outcome == "agrees"]
    differing = tuple(item.scenario.test for item in results if item.outcome == "differs")
    refused = [
        NotObservable(
            test=item.scenario.test, line=item.line or item.scenario.line, reason=item.reason
        )
        for item in results
        if item.outcome == "not observable"
    ]
    ambiguous = {
        item.reason.removesuffix(AMBIGUOUS_EXCEPTION).strip()
        for item in results
        if item.reason.endswith(AMBIGUOUS_EXCEPTION)
    }
    used = {name for item in agreed for name in item.names}
    attributes = {name for item in agreed for name in item.attributes}
    for item in contexts:
        known = item.remember(read_module_names)
        used = known.add_base_classes(used)
        called = known.add_called(attributes | used)
        used |= {name for name, own in known.methods.items() if own in called}
    labels = {item.scenario.test: item.outcome == "agrees" for item in results}
    missing = _find_missing(names, used - set(_find_rarely_seen(names, contexts, labels)))
    contradicting = tuple(i.scenario.test for i in results if i.reason.startswith(_BESIDE))
    share = len(agreed) / tests
    return Isolated(
        reached=bool(agreed)
        and share >= contexts[0].thresholds.isolated
        and not (differing or contradicting or missing or ambiguous),
        tests=tests,
        observed=len(agreed) + len(differing),
        agreed=len(agreed),
        differing=differing,
        contradicting=contradicting,
        not_observable=tuple(refused),
        names_missing=missing,
        ambiguous_exceptions=tuple(sorted(ambiguous)),
        replaced=tuple(sorted(_find_replaced(contexts, results))),
    )


def _find_replaced(contexts: Sequence[GradingContext], results: Sequence[_Result]) -> set[str]:
    """Return built-in functions that the code replaces, and what it does of the framework's.

    The latter counts with a test that differs. Tests that name `builtins` may have done it.
    """
    of_framework = {item.reason for item in results if item.outcome == "differs" and item.reason}
    if any("builtins" in file.code for item in contexts for file in item.tests):
        return of_framework
    names = {item.reason.removeprefix(_REPLACES) for item in results}
    return of_framework | names & _PURE_BUILTINS


def _find_rarely_seen(
    names: Sequence[str], contexts: Sequence[GradingContext], has_agreed: Mapping[str, bool]
) -> Iterator[str]:
    """Yield names of which most tests that see more than an exception of them are not observed.

    Else a name would count whose results only the other tests see.
    """
    uses = [find_value_uses(file.code, item.module) for item in contexts for file in item.tests]
    for name in names:
        own = name.rpartition(".")[2]
        found = [has_agreed[t] for i in uses for t in i if t in has_agreed and own in i[t]]
        if found and sum(found) < _MIN_TESTS_OF_A_NAME * len(found):
            yield name


def _find_missing(names: Sequence[str], used: set[str]) -> tuple[str, ...]:
    """Return the names that are not used; methods only where these are more than a quarter."""
    methods = [name for name in names if "." in name]
    are_enough = len(used.intersection(methods)) >= _MIN_METHODS * len(methods)
    return tuple(i for i in names if i not in used and not (are_enough and i in methods))


def _judge_file(context: GradingContext, file: TestFile, plan: ScenarioFile) -> Iterator[_Result]:
    """Yield the result of each test of a file.

    A test that fails as it is, where no test runs, differs, whatever is observed of it.
    """
    results = [
        *_judge_scenarios(context, file, plan),
        *(
            _Result(Scenario(item.test, item.line, frozenset()), "not observable", 0, item.reason)
            for item in plan.not_observable
        ),
    ]
    are_plain = all(item.outcome == "agrees" and not item.has_objects for item in results)
    found = WholeTests() if are_plain else compare_whole_tests(context, file)
    for item in results:
        if item.scenario.test in found.fail_apart:
            yield _Result(item.scenario, "differs", reason=found.replaced)
        elif item.outcome == "not observable" and item.line and item.scenario.test in found.fail:
            yield replace(item, reason=f"{_BESIDE} ({item.reason})")
        else:
            yield item


def _judge_scenarios(
    context: GradingContext, file: TestFile, plan: ScenarioFile
) -> Iterator[_Result]:
    """Yield the result of each scenario of a test file."""
    if not plan.scenarios:
        return
    first = run_rows(context, plan, file)
    suspects = {key for key, item in first.items() if is_doubtful(item)}
    beside = run_rows(context, plan, file, context.tests) if suspects else {}
    confirmed = {key for key in suspects if has_agreed(beside, key)}
    again = run_rows(context, plan, file, hash_seed=SEED_OF_TESTS) if confirmed else {}
    differing = {key for key in confirmed if not has_agreed(again, key)}
    for number, scenario in enumerate(plan.scenarios):
        rows = [key for key in sorted(first) if key[0] == number]
        doubtful = next((key for key in rows if not has_agreed(first, key)), None)
        if not rows:
            yield _Result(scenario, "not observable", reason=_NO_ROWS)
        elif doubtful is None:
            has_objects = any(first[key].has_objects for key in rows)
            yield _Result(scenario, "agrees", has_objects=has_objects)
        elif differing.intersection(rows):
            yield _Result(scenario, "differs")
        else:
            yield _explain(scenario, first[doubtful], doubtful in confirmed)


def _explain(scenario: Scenario, row: RowOutcome, agrees_beside: bool) -> _Result:
    reason = row.reason
    if row.outcome == "differs":
        why = f" ({row.reason})" if row.reason else ""
        reason = f"{_UNSTEADY if agrees_beside else _BESIDE}{why}"
    return _Result(scenario, "not observable", row.line, reason)
