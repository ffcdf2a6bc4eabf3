"""Quality gates of generated tests: complaints that are sent to the model."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from greenloop.records import Contract, Failure, TestRun
from greenloop.records.contract import MIN_HELD_OUT
from greenloop.testsuite.held_out_examples import (
    has_enough_usable_examples,
    is_usable,
    may_have_examples,
)
from greenloop.testsuite.parser import TestFunction, get_function_name, parse_test_functions
from greenloop.testsuite.suite import Suite

BROKEN_TEST_ERRORS = frozenset(
    {"NameError", "ImportError", "ModuleNotFoundError", "SyntaxError", "UnboundLocalError"}
)
# The sandbox's messages for a test whose body was not run, independent of the code.
NOT_RUN_MESSAGES = ("async def test without a plugin", "the test returned a generator")
_MODEL_ORIGINS = ("generated", "hardening")  # written by the model
_PROVES_NOTHING = (
    "does not fail on a module whose functions all raise NotImplementedError: "
    "it proves nothing. Assert a value that the contract fixes."
)


@dataclass(frozen=True, slots=True)
class Complaints:
    """Complaints: `fatal` if the file has no usable tests, `weaknesses` if tests prove too little.

    `of_examples` are complaints about the held-out examples.
    """

    fatal: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    of_examples: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Fatal complaints first."""
        return self.fatal + self.weaknesses + self.of_examples

    @property
    def are_of_examples(self) -> bool:
        """Whether no complaint is about the tests."""
        return self.all == self.of_examples


def find_complaints(contract: Contract, suite: Suite, stub_run: TestRun) -> Complaints:
    """Return the complaints about generated tests, by their text and their run on the stub."""
    tests = parse_test_functions(suite.generated)
    fatal = _find_collection_errors(suite, stub_run) or (
        [] if tests else ["The file holds no test."]
    )
    weak: list[str] = []
    if not fatal:
        broken = find_broken_on_stub(suite, stub_run)
        weak += [f"{name} is broken: {why}" for name, why in broken.items()]
        weak += [f"{name} {_PROVES_NOTHING}" for name in find_green_on_stub(suite, stub_run)]
    weak += _find_text_complaints(contract, suite, tests)
    return Complaints(tuple(fatal), tuple(weak), tuple(_find_complaints_of_examples(suite)))


def find_green_on_stub(suite: Suite, stub_run: TestRun) -> tuple[str, ...]:
    """Return the generated tests of which no case failed on the stub: they prove nothing."""
    outcome: dict[str, set[str]] = {}
    for test in stub_run.tests:
        if suite.origin(test.id) in _MODEL_ORIGINS:
            outcome.setdefault(get_function_name(test.id), set()).add(test.outcome)
    return tuple(name for name, seen in outcome.items() if not seen & {"failed", "error"})


def find_untested_requirements(contract: Contract, suite: Suite) -> tuple[str, ...]:
    """Return the ids of requirements that no test or held-out example names."""
    named = {item for _, test in suite.functions for item in test.requirements}
    named |= {item.requirement for item in suite.held_out}
    return tuple(item.id for item in contract.requirements if item.id not in named)


def _find_collection_errors(suite: Suite, stub_run: TestRun) -> list[str]:
    errors = [item for item in stub_run.failures if item.phase == "collect"]
    if own := [item for item in errors if item.test.startswith(suite.file_name)]:
        return [f"The file cannot be collected: {item.exception}: {item.message}" for item in own]
    if stub_run.ending == "finished" and (errors or not stub_run.missing):
        return []
    how = f"exit status {stub_run.exit_status}"
    if stub_run.detail:
        how = f"{stub_run.ending}: {stub_run.detail}"
    return [f"On a stub of the module the tests did not come to an end ({how})."]


def find_broken_on_stub(suite: Suite, stub_run: TestRun) -> dict[str, str]:
    """Return generated tests with an error of their own (an unknown name or fixture), and why."""
    return {
        get_function_name(item.test): why
        for item in stub_run.failures
        if suite.origin(item.test) in _MODEL_ORIGINS
        and (why := describe_broken_test(item, suite.file_name))
    }


def find_skipping_tests(suite: Suite) -> tuple[str, ...]:
    """Return the generated tests that may skip or xfail."""
    written = (*parse_test_functions(suite.generated), *parse_test_functions(suite.hardening))
    return tuple(item.name for item in written if item.can_skip)


def find_returning_tests(tests: Iterable[TestFunction]) -> tuple[str, ...]:
    """Return the tests that return a value and assert nothing: pytest lets them pass."""
    return tuple(item.name for item in tests if item.has_return_value and not item.has_assertions)


def describe_broken_test(failure: Failure, file_name: str) -> str:
    """Return the error in the test itself that makes it fail; '' if the error is in the code."""
    in_test = bool(failure.frames) and failure.frames[-1].file == file_name
    is_broken = (
        failure.exception == "FixtureLookupError"
        or failure.message.startswith(NOT_RUN_MESSAGES)
        or (failure.exception in BROKEN_TEST_ERRORS and in_test)
    )
    first_line = failure.message.strip().partition("\n")[0]
    return f"{failure.exception}: {first_line}" if is_broken else ""


def _find_text_complaints(
    contract: Contract, suite: Suite, tests: Sequence[TestFunction]
) -> list[str]:
    known = {item.id for item in contract.requirements}
    twice = [name for name, count in Counter(item.name for item in tests).items() if count > 1]
    proving = (*tests, *parse_test_functions(suite.answers))
    named = {item for test in proving for item in test.requirements}
    missing = [item.id for item in contract.requirements if item.id not in named]
    complaints = [f"{name} is defined twice; the first is never run." for name in twice]
    for test in tests:
        if not test.requirements:
            complaints.append(
                f'{test.name} names no requirement: begin its docstring with ids, """R1: …""".'
            )
        elif unknown := [item for item in test.requirements if item not in known]:
            complaints.append(
                f"{test.name} names requirements that are not in the contract: {', '.join(unknown)}."
            )
        if test.can_skip:
            complaints.append(f"{test.name} may skip or xfail: a test must give a verdict.")
        if test.has_return_value:
            complaints.append(f"{test.name} returns a value, which pytest passes over: assert it.")
    if missing and tests:
        complaints.append(f"No test names {', '.join(missing)}.")
    return complaints


def _find_complaints_of_examples(suite: Suite) -> Iterator[str]:
    if not suite.held_out and not may_have_examples([suite.generated]):
        return
    if not has_enough_usable_examples(suite.held_out, suite.known):
        calls = [item.call for item in suite.held_out if not is_usable(item, suite.known)]
        few = f"Give at least {MIN_HELD_OUT} held-out examples, half of them with `returns`."
        why = "`call` is not an expression of the module's names, or `returns` is not a literal, or a date or number made of literals"
        yield f"{few} These cannot be used, as {why}: {', '.join(calls)}" if calls else few
