"""Differences as the judge sees them, and what follows from its rulings."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.grading.peer.comparison import FoundDifference
from greenloop.records import Choice, Contract, Difference, DifferenceRuling, HeldOutExample
from greenloop.records.evidence.peer import Ruling
from greenloop.syntax.parse import parse_or_none
from greenloop.tools.peer_toolkit import ShownDifference

_RAISED = re.compile(r"raises\s+([\w.]+)")
_QUOTED = re.compile(r"[\"“'‘]([^\"“”]{4,}?)[\"”'’]")
_MAX_ABOUT_CHARS = 300
_TEST_ANSWERS = ("this test passes", "this test fails")


@dataclass(frozen=True)
class OpenDifference:
    """A difference that nobody has judged; `test` is the id of the test that only the code passes."""

    found: FoundDifference
    test: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.found.call, self.found.code, self.found.peer

    def to_record(self, ruling: Ruling | None = None, because: str = "") -> Difference:
        """Return the difference for the report."""
        call = self.test or self.found.call
        answers = {"code": self.found.code, "peer": self.found.peer}
        return Difference(call=call, **answers, ruling=ruling, because=because)

    def build_example(self, ruling: DifferenceRuling) -> HeldOutExample | None:
        """Return what the right program answers, where that can be a test; None elsewhere."""
        call, expected = self.found.call, self.found.peer_literal
        raised = _RAISED.match(self.found.peer)
        if self.test or not _is_runnable(call):
            return None
        if ruling.right == "neither" or (expected is None and raised is None):
            expected, raised = ruling.expected, None
        if raised:
            return HeldOutExample(call=call, raises=raised[1])
        return HeldOutExample(call=call, returns=expected) if expected is not None else None

    def build_choice(self, number: int) -> Choice:
        """Return the question that the text leaves open."""
        if self.test:
            question = f"does the text ask for what {self.test} asserts?"
            answers = ("yes", "no")
        else:
            call = self.found.call.replace("\n", "; ")
            question = f"what does `{call}` give?"
            answers = (_format(call, self.found.code), _format(call, self.found.peer))
        return Choice(
            id=f"D{number}", question=question, answers=answers, chosen=answers[0], source="judge"
        )


def _format(call: str, answer: str) -> str:
    raised = _RAISED.match(answer)  # without the message
    return f"{call} {raised[0]}" if raised else f"{call} -> {answer}"


def from_test(test: str, source: str) -> OpenDifference:
    """Return the difference on a test that the code passes and the peer fails."""
    return OpenDifference(FoundDifference(_drop_docstring(source), *_TEST_ANSWERS), test)


def _drop_docstring(source: str) -> str:
    """Return a test without its docstring: it names requirements, which the judge does not know."""
    tree = parse_or_none(source)
    function = tree.body[0] if tree and tree.body else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or len(function.body) == 1:
        return source
    first, lines = function.body[0], source.splitlines()
    if ast.get_docstring(function) is None or first.end_lineno is None:
        return source
    return "\n".join(lines[: first.lineno - 1] + lines[first.end_lineno :])


def arrange(differences: Sequence[OpenDifference], seed: str) -> list[tuple[ShownDifference, bool]]:
    """Return the differences for the judge, each with whether the code's answer stands first."""
    chance = random.Random(seed)
    arranged = []
    for number, item in enumerate(differences, 1):
        first, second = item.found.code, item.found.peer
        if not (code_is_first := chance.random() < 0.5):
            first, second = second, first
        shown = ShownDifference(number, item.found.call, first, second, is_test=bool(item.test))
        arranged.append((shown, code_is_first))
    return arranged


def interpret(ruling: DifferenceRuling, code_is_first: bool, is_test: bool = False) -> Ruling:
    """Return what a ruling on an arranged difference says of code and peer."""
    if ruling.right == "text does not say" or (is_test and ruling.right == "neither"):
        return "text does not say"
    if ruling.right == "neither":
        return "both are wrong"
    return "peer is wrong" if (ruling.right == "first") == code_is_first else "code is wrong"


def describe_test(contract: Contract, because: str) -> str:
    """Return the docstring of a test: the requirements whose passages the judge quotes, and why."""
    quoted = [_flatten(item) for item in _QUOTED.findall(because)]
    ids = [
        item.id
        for item in contract.requirements
        if any(part in _flatten(own) for own in (item.text, *item.quotes) for part in quoted)
    ]
    said = re.sub(r"[\"\\]", "'", " ".join(because.split()))[:_MAX_ABOUT_CHARS]
    return f"{', '.join(ids) or 'The text'}: {said or 'an input that a second reading answers'}"


def _flatten(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_runnable(call: str) -> bool:
    """Whether a call is an expression, or statements that end in one."""
    try:
        body = ast.parse(call.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(body) and isinstance(body[-1], ast.Expr)
