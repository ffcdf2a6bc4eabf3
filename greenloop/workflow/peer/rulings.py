"""Differences in the form for the judge, and the meaning of its rulings."""

import ast
import builtins
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent, shorten

from greenloop.grading.peer.comparison import FoundDifference
from greenloop.llm.parsing.completeness import top_level_names
from greenloop.records import Choice, Contract, Difference, Finding, HeldOutExample
from greenloop.records.evidence.peer import Ruling
from greenloop.records.generation import DifferenceRuling
from greenloop.syntax.names import free_names
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_none
from greenloop.syntax.values import find_value_imports
from greenloop.testsuite import Suite
from greenloop.testsuite.used_definitions import write_out_helpers
from greenloop.tools.peer_toolkit import ShownDifference
from greenloop.workflow.change.suite import ChangeSuite

_RAISED = re.compile(r"raises\s+([\w.]+)")
# Pytest's messages on `raises(match=…)`, on `str(caught.value)`, and on types of numbers.
_OF_MESSAGE = re.compile(
    r"Regex pattern did not match|= str\(.*<ExceptionInfo|assert dtype\("
    r"|assert <class '(?:int|float)'> (?:is|==) <class '(?:int|float)'>",
    re.S,
)
_LITERAL = re.compile(r"([\"'])(.{3,}?)\1")
_SENTENCE = re.compile(r"'(?:[^'\\]|\\.)* (?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)* (?:[^\"\\]|\\.)*\"")
_QUOTED = re.compile(r"[\"“'‘]([^\"“”]{4,}?)[\"”'’]")
_MAX_ABOUT_CHARS = 300
_TEST_PASSES, _TEST_FAILS = "this test passes", "this test fails"
_MAX_ROWS_SHOWN = 8


@dataclass(frozen=True)
class OpenDifference:
    """A difference before its ruling; `test` is the id of a test that the peer fails, or ''."""

    found: FoundDifference
    test: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return (self.test,) if self.test else (self.found.call, self.found.code, self.found.peer)

    @property
    def is_of_wording(self) -> bool:
        """Whether the answers differ only in quoted sentences within them."""
        code, peer = (_SENTENCE.sub("…", item) for item in (self.found.code, self.found.peer))
        return not self.test and code == peer and code[:1] != "…"

    def to_record(self, ruling: Ruling | None = None, because: str = "") -> Difference:
        """Return the difference for the report."""
        call = self.test or self.found.call
        answers = {"code": self.found.code, "peer": self.found.peer}
        return Difference(call=call, **answers, ruling=ruling, because=because)

    def build_example(self, ruling: DifferenceRuling) -> HeldOutExample | None:
        """Return the call with its right answer; None if it cannot be a test."""
        call = f"{self.found.helpers}{self.found.call}"
        expected = self.found.peer_literal
        raised = _RAISED.match(self.found.peer)
        if self.test or not _is_runnable(call, self.found.callee):
            return None
        if ruling.right == "neither" or (expected is None and raised is None):
            expected, raised = ruling.expected, None
        if raised:
            return HeldOutExample(call=call, raises=raised[1])
        return HeldOutExample(call=call, returns=expected) if expected is not None else None

    def build_finding(self, because: str) -> Finding:
        """Return a review finding that the code contradicts the text."""
        does = self.found.call if self.test else f"{self.found.call} gives {self.found.code}"
        does = shorten(does, _MAX_ABOUT_CHARS, placeholder=" …")
        what = "a test that the code passes: " * bool(self.test)
        message = f"the text contradicts {what}{does}: {because}"
        return Finding(line=None, severity="error", message=message)

    def ask(self, contract: Contract) -> tuple[Contract, str]:
        """Return the contract with the question, added if it is new, and the question's id."""
        ids = {choice.question: choice.id for choice in contract.choices}
        number = next(n for n in range(1, len(ids) + 2) if f"D{n}" not in ids.values())
        choice = self.build_choice(number)
        if choice.question not in ids:
            contract = contract.model_copy(update={"choices": (*contract.choices, choice)})
        return contract, ids.get(choice.question, choice.id)

    def build_choice(self, number: int) -> Choice:
        """Return the difference as a question that the text leaves open."""
        if self.test:
            question = f"does the text ask for this? {_show_assertions(self.found)}"
            answers = ("yes", "no")
        else:
            call = write_out_helpers(self.found.call, self.found.helpers).replace("\n", "; ")
            question = f"what does `{call}` give?"
            answers = (_format(call, self.found.code), _format(call, self.found.peer))
        return Choice(
            id=f"D{number}", question=question, answers=answers, chosen=answers[0], source="judge"
        )


def _show_assertions(found: FoundDifference) -> str:
    """Return the body of a test in one line of limited length."""
    tree = parse_or_none(found.call)
    defined = [item for item in tree.body if isinstance(item, Definition)] if tree else []
    shown = defined[-1].body if defined else tree.body if tree else []
    lines = [ast.unparse(item) for item in shown] or [found.call]
    flat = "; ".join(" ".join(line.split()) for line in lines)
    return f"`{shorten(flat, _MAX_ABOUT_CHARS, placeholder=' …')}`"


def _format(call: str, answer: str) -> str:
    raised = _RAISED.match(answer)  # without the message
    return f"{call} {raised[0]}" if raised else f"{call} -> {answer}"


def from_tests(failing: Mapping[str, str], suite: Suite | ChangeSuite) -> list[OpenDifference]:
    """Return a difference for each test function that the peer fails, with its failing rows.

    `failing` has the messages; tests whose messages begin with the same line have one cause.
    """
    found: dict[str, list[str]] = {}
    causes: dict[str, str] = {}
    for test, message in failing.items():
        name, _, row = test.partition("[")
        found.setdefault(name, []).extend([f"[{row}"] if row else [])
        causes.setdefault(name, message.partition("\n")[0])
    return [_from_test(name, rows, suite, causes[name]) for name, rows in found.items()]


def _from_test(
    test: str, rows: Sequence[str], suite: Suite | ChangeSuite, cause: str
) -> OpenDifference:
    shown = ", ".join(rows[:_MAX_ROWS_SHOWN]) + " …" * (len(rows) > _MAX_ROWS_SHOWN)
    fails = f"{_TEST_FAILS} in the rows {shown}" if rows else _TEST_FAILS
    helpers, source = _split_definitions(_without_docstrings(suite.source_in_context(test)))
    cluster = (cause,) if cause else ()
    found = FoundDifference(source, _TEST_PASSES, fails, cluster=cluster, helpers=helpers)
    return OpenDifference(found, test)


def _split_definitions(source: str) -> tuple[str, str]:
    """Return a source without its last definition, and that definition."""
    tree = parse_or_none(source)
    if tree is None or len(tree.body) < 2:
        return "", source
    defined = [item for item in tree.body if isinstance(item, Definition)]
    last = defined[-1] if defined else tree.body[-1]
    before = [item for item in tree.body if item is not last]
    return f"{ast.unparse(ast.Module(before, []))}\n\n", ast.unparse(last)


def _without_docstrings(source: str) -> str:
    """Return code without docstrings and comments, which interpret the text."""
    tree = parse_or_none(dedent(source))
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            is_first = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[is_first:] or [ast.Pass()]
    return ast.unparse(tree) if tree else source


def is_wording(message: str, text: str) -> bool:
    """Whether a test fails only on words of a message, or a number type, not in the text."""
    words = (_flatten(found[2]) for found in _LITERAL.finditer(message))
    return bool(_OF_MESSAGE.search(message)) and not any(item in _flatten(text) for item in words)


def spread_clusters(differences: Iterable[OpenDifference]) -> list[OpenDifference]:
    """Return the differences in rounds of one from each cluster, which often has one cause."""
    seen = Counter[tuple[str, ...]]()
    rounds: list[int] = []
    found = [*differences]
    for item in found:
        cluster = item.found.cluster or item.key
        rounds.append(seen[cluster])
        seen[cluster] += 1
    places = sorted(range(len(found)), key=lambda at: rounds[at])
    return [found[at] for at in places]


def arrange(differences: Sequence[OpenDifference], seed: str) -> list[tuple[ShownDifference, bool]]:
    """Return the differences for the judge, each with whether the code's answer comes first."""
    chance, arranged = random.Random(seed), []
    known: dict[str, int] = {}  # by helper definitions: the first difference with them
    for number, item in enumerate(differences, 1):
        first, second = item.found.code, item.found.peer
        if not (code_is_first := chance.random() < 0.5):
            first, second = second, first
        helpers = item.found.helpers
        if helpers and known.setdefault(helpers, number) < number:
            helpers = f"# with the definitions of difference {known[helpers]}\n"
        call = f"{helpers}{item.found.call}"
        shown = ShownDifference(number, call, first, second, bool(item.test))
        arranged.append((shown, code_is_first))
    return arranged


def interpret(ruling: DifferenceRuling, code_is_first: bool, difference: OpenDifference) -> Ruling:
    """Return what a ruling on an arranged difference means for code and peer.

    `wording` counts only if the answers differ in sentences within them: a text that is the whole
    answer is the result of the call.
    """
    if ruling.right == "wording" and difference.is_of_wording:
        return "wording is free"
    if ruling.right == "outside":
        return "outside the text"
    is_undecided = ruling.right in ("text does not say", "wording")
    if is_undecided or (difference.test and ruling.right == "neither"):
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
    return (
        f"{', '.join(ids) or 'The text'}: {said or 'an input that a second implementation answers'}"
    )


def _flatten(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_runnable(call: str, callee: str) -> bool:
    """Whether a call is an expression, or statements with known names that end in one."""
    tree = parse_or_none(call.strip())
    if tree is None or not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return False
    known = {*dir(builtins), *top_level_names(call), *find_value_imports(call), callee}
    return len(tree.body) == 1 or known.issuperset(free_names(tree))
