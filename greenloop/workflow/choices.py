"""Open choices of a text: answers are requested, stored, and added to the contract."""

import ast
import re
import time
from collections.abc import Awaitable, Callable, Sequence

from greenloop.events import ChoiceAnswered, ChoiceAsked
from greenloop.records import (
    Choice,
    ChoiceAnswer,
    Contract,
    HeldOutExample,
    Requirement,
    TestRun,
)
from greenloop.specification.choices import parse_answer, parse_object_answer
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import get_function_name
from greenloop.testsuite.suite import ANSWER_TEST_PREFIX, Suite, find_added_origin
from greenloop.workflow.state import RepairPhase, Run
from greenloop.workflow.storage.request import (
    PRECEDENCE_CLAUSE,
    ContractRequest,
    with_choice_answer,
)

_MAX_ASKED = 3  # in one round
_ILLUSTRATION = "the answer reads a file that is not there, and is no test by itself"
_REPLACED = "the user has given another answer to the same call"
_OTHER_ERROR = "in ['FileNotFoundError'"  # in the message of a test that expects another exception
_RECORD_MARK = re.compile(r"\bdataclass\b(?!.*\beq=False\b)|\bNamedTuple\b")
Steer = Callable[[Sequence[Choice]], Awaitable[bool]]
_CODE_TOOLS = ("generate_code", "write_change_tests", "write_change")


async def ask_user(run: Run, choice: Choice) -> ChoiceAnswer:
    """Return the user's answer; the wait for it does not count as time of the run."""
    run.emit(ChoiceAsked(choice))
    assert run.asker is not None
    asked_at = time.monotonic()
    answer = await run.asker.ask(choice)
    run.state.started += time.monotonic() - asked_at
    return answer


class ChoiceSettlement:
    """Settlement of the open choices of a run, in rounds.

    Round 0 comes before code and tests are written. The answers of later rounds are applied when
    the code is green or cannot be repaired, one round at a time: a resumed run then repeats the
    same steps, with the same prompts, up to the first new answer.
    """

    def __init__(self, run: Run, steer: Steer | None = None) -> None:
        """`steer` changes contract and tests by answers that differ from what was taken."""
        self._run, self._round, self._steer = run, 0, steer
        self._may_ask = {"contract": _MAX_ASKED, "judge": _MAX_ASKED}

    async def settle_before_code(self) -> None:
        """Apply the answers of round 0; ask for others unless code was requested already."""
        log = self._run.client.log
        if not any(map(log.has_response_of, _CODE_TOOLS)):
            await self._ask()
        await self._apply_answers()

    async def settle_after_code(self, *, ask: bool) -> bool:
        """Apply answers until one adds or changes tests; return whether one did."""
        while True:
            before = self._run.state.contract
            is_steered = await self._apply_answers()
            if self._run.state.contract != before and (self._add_tests() or is_steered):
                self._allow_repairs()
                return True
            if self._move_to_next_round():
                continue
            self._round += ask
            if not (ask and await self._ask()):
                return False

    async def _apply_answers(self) -> bool:
        """Apply the answers up to this round, and accept choices.

        Return whether an answer that differs from what was taken led to rewritten tests.
        """
        state = self._run.state
        taken = {item.sha256: item for item in state.agreed_contract.open_choices}
        for answer in self._request.choice_answers:
            if answer.round <= self._round or answer.how == "accepted":
                state.contract = with_answer(state.agreed_contract, answer)
        if getattr(self._request, "accepts_choices", False):
            state.contract = accept_choices(state.agreed_contract)
        differing = [
            taken[item.sha256]
            for item in state.agreed_contract.choices
            if item.answered == "user"
            and item.source == "contract"  # a judge asks about one input: its test is enough
            and item.sha256 in taken
            and item.chosen != taken[item.sha256].chosen
        ]
        return bool(differing) and self._steer is not None and await self._steer(differing)

    def _move_to_next_round(self) -> bool:
        rounds = (item.round for item in self._request.choice_answers)
        later = [number for number in rounds if number > self._round]
        self._round = min(later, default=self._round)
        return bool(later)

    async def _ask(self) -> bool:
        """Ask about new choices, and store each answer at once; return whether any was asked."""
        run, is_asked = self._run, False
        known = {item.question_sha256 for item in self._request.choice_answers}
        for choice in run.state.agreed_contract.open_choices if run.asker else ():
            if choice.sha256 in known or not self._may_ask[choice.source]:
                continue
            self._may_ask[choice.source] -= 1
            answer = await ask_user(run, choice)
            numbered = answer.model_copy(update={"round": self._round})
            run.state.request = with_choice_answer(self._request, numbered)
            run.save_request(run.state.request)
            run.emit(ChoiceAnswered(choice, answer))
            is_asked = True
        return is_asked

    @property
    def _request(self) -> ContractRequest:
        request = self._run.state.request
        assert isinstance(request, ContractRequest)
        return request

    def _add_tests(self) -> bool:
        """Replace outdated answer tests, and add new ones; return whether any was added."""
        state = self._run.state
        before, tests = state.code_tests, build_answer_tests(state.agreed_contract)
        suite = before
        if isinstance(suite, Suite):  # a change is written again
            for name in sorted(before.names - tests.keys()):
                if find_added_origin(name) == "answer":
                    suite = suite.leave_out_answer(f"{before.file_name}::{name}", _REPLACED)
        suite = suite.with_answers(tests)
        added = suite.names - before.names
        if added:
            state.suite = suite
            state.update_expectation(f"{suite.file_name}::{name}" for name in added)
        return bool(added)

    def _allow_repairs(self) -> None:
        """Begin a new repair phase, in which the code runs again with the present tests."""
        state = self._run.state
        state.green_run = None
        state.candidates.stuck_reason = ""
        state.repair_phase = RepairPhase(state.repairs + self._run.settings.max_repairs)


def accept_choices(contract: Contract) -> Contract:
    """Return the contract with all open choices accepted as they were taken."""
    accepted = {"answered": "accepted", "unread": True}
    choices = (
        item.model_copy(update=accepted) if item.answered is None else item
        for item in contract.choices
    )
    return contract.model_copy(update={"choices": tuple(choices)})


def with_answer(contract: Contract, answer: ChoiceAnswer) -> Contract:
    """Return the contract with one answer; one that changes a choice adds a requirement."""
    choices = list(contract.choices)
    for index, item in enumerate(choices):
        if item.answered is None and item.sha256 == answer.question_sha256 and answer.how != "left":
            chosen = answer.answer or item.chosen
            is_new = chosen != item.chosen  # else the requirements say it already
            update = {"answered": answer.how, "chosen": chosen, "unread": answer.unread}
            choices[index] = item.model_copy(update=update)
            contract = contract.model_copy(update={"choices": tuple(choices)})
            return _with_requirement(contract, choices[index]) if is_new else contract
    return contract


def _with_requirement(contract: Contract, choice: Choice) -> Contract:
    text = _requirement_text(choice)
    if any(item.text == text for item in contract.requirements):  # an edited contract has it
        return contract
    number = max(int(item.id[1:]) for item in contract.requirements) + 1
    quotes = (choice.quote,) if choice.quote else ()
    added = Requirement(id=f"R{number}", text=text, quotes=quotes)
    return contract.model_copy(update={"requirements": (*contract.requirements, added)})


def _requirement_text(choice: Choice) -> str:
    return f"{choice.question} The user's answer: `{choice.chosen}`. {PRECEDENCE_CLAUSE}"


def build_answer_tests(contract: Contract) -> dict[str, tuple[HeldOutExample, str]]:
    """Return the answers that are examples: example and docstring by the name of a test.

    The user's answers count, and accepted choices of the contract, unless the user has answered the
    same call. Accepted choices of a judge do not count: the code gave their answers.
    """
    ids = {item.text: item.id for item in contract.requirements}
    answered = [
        item
        for item in contract.choices
        if item.answered == "user" or (item.answered and item.source == "contract")
    ]
    classes = _list_record_classes(contract.interface) if answered else frozenset()
    found: dict[str, tuple[HeldOutExample, str]] = {}
    for choice in sorted(answered, key=lambda item: item.answered != "user"):
        example = parse_answer(choice.chosen) or parse_object_answer(choice.chosen, classes)
        is_new = example and example.call not in {item.call for item, _ in found.values()}
        if example is not None and (is_new or choice.answered == "user"):
            whose = "the user's answer" if choice.answered == "user" else "accepted by the user"
            about = f"{ids.get(_requirement_text(choice), choice.id)}: {whose}."
            found[f"{ANSWER_TEST_PREFIX}{choice.id.lower()}"] = (example, about)
    return found


def leave_out_illustrations(run: Run, result: TestRun) -> bool:
    """Leave out tests of answers that read a missing file: they only show a format.

    A choice whose answers name FileNotFoundError is about missing files: its test stays.
    Return whether there were any. The requirements of these answers have tests of their own.
    """
    state = run.state
    about_files = {
        f"{ANSWER_TEST_PREFIX}{item.id.lower()}"
        for item in (state.contract.choices if state.contract else ())
        if "FileNotFoundError" in " ".join((*item.answers, item.chosen))
    }
    failed = {
        item.test
        for item in result.failures
        if item.exception == "FileNotFoundError" or _OTHER_ERROR in item.message
    }
    answers = (test for test in sorted(failed) if find_added_origin(test) == "answer")
    found = [test for test in answers if get_function_name(test) not in about_files]
    for test in found:
        state.suite = state.tests.leave_out_answer(test, _ILLUSTRATION)
        run.notify(f"{get_function_name(test)}: {_ILLUSTRATION}")
    state.update_expectation()
    return bool(found)


def _list_record_classes(interface: str) -> frozenset[str]:
    """Return the dataclasses and named tuples of an interface that are equal by their fields."""
    classes = (node for node in parse_or_empty(interface).body if isinstance(node, ast.ClassDef))
    return frozenset(
        node.name
        for node in classes
        if _RECORD_MARK.search(" ".join(map(ast.unparse, (*node.decorator_list, *node.bases))))
    )
