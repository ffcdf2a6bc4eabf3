"""What generated tests must be before they count: complaints that the model can mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from greenloop.records import Contract, Failure, TestRun
from greenloop.testsuite.parser import TestFunction, get_function_name, parse_test_functions
from greenloop.testsuite.suite import Suite

BROKEN_TEST_ERRORS = frozenset(
    {"NameError", "ImportError", "ModuleNotFoundError", "SyntaxError", "UnboundLocalError"}
)
# What the sandbox says of a test whose body was not run, whatever the code is.
NOT_RUN_MESSAGES = ("async def test without a plugin", "the test returned a generator")
_MODEL_ORIGINS = ("generated", "hardening")  # by the model, and not yet seen to be worth anything


@dataclass(frozen=True)
class Complaints:
    """`fatal`: without mending there are no tests at all. `others`: tests that prove too little."""

    fatal: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return self.fatal + self.weaknesses


def find_complaints(contract: Contract, suite: Suite, stub_run: TestRun) -> Complaints:
    """What is wrong with the generated tests, seen from their text and their run on the stub."""
    tests = parse_test_functions(suite.generated)
    fatal = _find_collection_errors(suite, stub_run) or (
        [] if tests else ["The file holds no test."]
    )
    broken = (
        []
        if fatal
        else [f"{n} is broken: {w}" for n, w in find_broken_on_stub(suite, stub_run).items()]
    )
    green = (
        []
        if fatal
        else [_describe_green_test(name) for name in find_green_on_stub(suite, stub_run)]
    )
    return Complaints(tuple(fatal), (*broken, *green, *_find_text_complaints(contract, tests)))


def find_green_on_stub(suite: Suite, stub_run: TestRun) -> tuple[str, ...]:
    """Names of generated tests of which no case failed on the stub: they prove nothing."""
    outcome: dict[str, set[str]] = {}
    for test in stub_run.tests:
        if suite.origin(test.id) in _MODEL_ORIGINS:
            outcome.setdefault(get_function_name(test.id), set()).add(test.outcome)
    return tuple(name for name, seen in outcome.items() if not seen & {"failed", "error"})


def find_untested_requirements(contract: Contract, suite: Suite) -> tuple[str, ...]:
    """Ids of requirements that no test (or sealed example) names."""
    named = {item for _, test in suite.functions for item in test.requirements}
    named |= {item.requirement for item in suite.held_out}
    return tuple(item.id for item in contract.requirements if item.id not in named)


def _find_collection_errors(suite: Suite, stub_run: TestRun) -> list[str]:
    wrong = [
        item
        for item in stub_run.failures
        if item.phase == "collect" and item.test.startswith(suite.file_name)
    ]
    if wrong:
        return [f"The file cannot be collected: {item.exception}: {item.message}" for item in wrong]
    broken_off = stub_run.missing and not any(item.phase == "collect" for item in stub_run.failures)
    if stub_run.ending != "finished" or broken_off:
        how = (
            f"{stub_run.ending}: {stub_run.detail}"
            if stub_run.detail
            else f"exit status {stub_run.exit_status}"
        )
        return [f"On a stub of the module the tests did not come to an end ({how})."]
    return []


def find_broken_on_stub(suite: Suite, stub_run: TestRun) -> dict[str, str]:
    """Generated tests that fail of themselves (an unknown name or fixture in the file), and why."""
    return {
        get_function_name(item.test): f"{item.exception}: {_get_first_line(item.message)}"
        for item in stub_run.failures
        if _is_broken(suite, item)
    }


def find_skipping_tests(suite: Suite) -> tuple[str, ...]:
    """Names of generated tests that may end without a verdict."""
    written = (*parse_test_functions(suite.generated), *parse_test_functions(suite.hardening))
    return tuple(item.name for item in written if item.can_skip)


def find_returning_tests(tests: Iterable[TestFunction]) -> tuple[str, ...]:
    """Names of tests that give a value back and assert nothing: pytest passes them, whatever it is."""
    return tuple(item.name for item in tests if item.has_return_value and not item.has_assertions)


def _is_broken(suite: Suite, failure: Failure) -> bool:
    if suite.origin(failure.test) not in _MODEL_ORIGINS:
        return False
    if failure.exception == "FixtureLookupError" or failure.message.startswith(NOT_RUN_MESSAGES):
        return True
    in_test = bool(failure.frames) and failure.frames[-1].file == suite.file_name
    return failure.exception in BROKEN_TEST_ERRORS and in_test


def _describe_green_test(name: str) -> str:
    return (
        f"{name} does not fail on a module whose functions all raise NotImplementedError: "
        "it proves nothing. Assert a value that the contract fixes."
    )


def _find_text_complaints(contract: Contract, tests: list[TestFunction]) -> list[str]:
    known = {item.id for item in contract.requirements}
    twice = [name for name, count in Counter(item.name for item in tests).items() if count > 1]
    named = {item for test in tests for item in test.requirements}
    missing = [item.id for item in contract.requirements if item.id not in named]
    said = [f"{name} is defined twice; the first is never run." for name in twice]
    for test in tests:
        if not test.requirements:
            said.append(
                f'{test.name} names no requirement: begin its docstring with ids, """R1: …""".'
            )
        elif unknown := [item for item in test.requirements if item not in known]:
            said.append(
                f"{test.name} names requirements that are not in the contract: {', '.join(unknown)}."
            )
        if test.can_skip:
            said.append(f"{test.name} may skip or xfail: a test must give a verdict.")
        if test.has_return_value:
            said.append(f"{test.name} returns a value, which pytest passes over: assert it.")
    if missing and tests:
        said.append(f"No test names {', '.join(missing)}.")
    return said


def _get_first_line(text: str) -> str:
    return text.strip().split("\n")[0]
