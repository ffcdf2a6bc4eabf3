"""Detection of memorized answers.

Code that only stores the answers of its tests gives errors, or one default, for other inputs.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import Answer
from greenloop.grading.memorization.cases import list_constants
from greenloop.sandbox.guest.observation.inputs.calls import ANSWER
from greenloop.sandbox.guest.observation.values import VALUE_TYPES
from greenloop.syntax.parse import parse_or_empty

MIN_VARIANT_ANSWERS = 6  # below which nothing is concluded
_MIN_DISTINCT_ANSWERS = 4
_BOOLEAN_ANSWER_COUNT = 2
_MIN_LITERAL_SHARE = 0.8  # of the tests' cases, whose values are literals of the code
_RAISED = "raised"
_OS_ERROR = ["builtins", "OSError"]
_PLAIN_TAGS = [[tag] for tag in VALUE_TYPES]


def is_memorized(
    code: str, called: Sequence[tuple[Input, Answer]], variants: Sequence[Answer]
) -> bool:
    """Whether variants of a function's calls give only errors, one default, or the tests' answers.

    `called` are the calls of the tests. One of two answers may honestly be rare, and a few answers
    may honestly repeat: in these cases the code must also contain the tests' cases as literals.
    """
    known = [(call, value) for call, answer in called for value in _read_plain(answer)]
    expected = {str(value) for _, value in known}
    answers = [text for answer in variants if (text := _format_answer(answer))]
    given = set(answers)
    if len(expected) < 2 or len(answers) < MIN_VARIANT_ANSWERS:
        return False
    if given == {_RAISED}:
        return True
    default = given - {_RAISED}
    only_one = len(given) == 1 or (len(default) == 1 and not default <= expected)
    if only_one and len(expected) > _BOOLEAN_ANSWER_COUNT:
        return True
    again = len(expected) >= _MIN_DISTINCT_ANSWERS and default <= expected
    return (len(default) == 1 or again) and _measure_literal_share(
        known, _collect_constants(code)
    ) >= _MIN_LITERAL_SHARE


def _read_plain(answer: Answer) -> Iterator[Any]:
    """Yield the value that a call returned, if its type is built in."""
    value = answer.load(ANSWER).get("value", {})
    is_plain = value[:1] in _PLAIN_TAGS if isinstance(value, list) else not isinstance(value, dict)
    if is_plain:
        yield value


def _format_answer(answer: Answer) -> str:
    """Return the answer to a call as text; '' if it did not end in time or found no file."""
    seen = answer.load(ANSWER)
    if answer.is_late or not seen:
        return ""
    match seen.get("error"):
        case [_, [*bases], *_] if _OS_ERROR in bases:
            return ""
    return str(seen["value"]) if "value" in seen else _RAISED


def _measure_literal_share(
    calls: Sequence[tuple[Input, Any]], constants: set[tuple[type, object]]
) -> float:
    """Return the share of cases whose values are all literals of the code.

    Answers that are containers count as values that no code has. Cases with the answer False or
    without a value are left out: they need no literal.
    """
    cases = [[*_iterate_leaves(*item)] for item in calls if item[1] is not False]
    relevant = [values for values in cases if values]
    return sum(map(constants.issuperset, relevant)) / len(relevant) if relevant else 0.0


def _iterate_leaves(call: Input, answer: Any) -> Iterable[tuple[type, object]]:
    """Yield the numbers and texts of a call and its answer, numbers without their sign."""
    values = [*list_constants(call), str(answer) if isinstance(answer, list) else answer]
    for value in values:
        if not isinstance(value, (bool, type(None), type(...))):  # which any code has
            yield type(value), abs(value) if isinstance(value, (int, float)) else value


def _collect_constants(code: str) -> set[tuple[type, object]]:
    nodes = ast.walk(parse_or_empty(code))
    return {(type(n.value), n.value) for n in nodes if isinstance(n, ast.Constant)}
