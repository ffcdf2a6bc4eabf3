"""Reader of a call's outcome in a text: the literal or the exception after `->`, `returns`, ….

A value is taken only where the words after it show that it is complete: `2.` at a sentence's end is
2, but `2 or 3`, `2 items`, `1,5` and `2 if strict` are doubtful.
"""

import ast
import builtins
import re
from dataclasses import dataclass

from greenloop.specification.reading.expressions import find_closing, is_closed
from greenloop.syntax.parse import read_literal

# Bounded repetitions keep matching linear on long, adversarial texts.
_LEAD_IN = re.compile(
    r"(?:(?:exactly|only|the|an?|value|string|list|tuple|dict(?:ionary)?|set|number|integer|int|str"
    r"|float|boolean|bool|result)\s{1,9}){1,4}(?=[`\"'\[({\d+\-.−]|True\b|False\b|None\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"[+\-−]?(?:0[xX][\da-fA-F]{1,99}|(?:\d{1,999}(?:_\d{1,99}){0,99}(?:\.\d{1,999})?|\.\d{1,999})"
    r"(?:[eE][+-]?\d{1,4})?j?)"
)
_WORD = re.compile(r"(true|false|none|null)\b", re.IGNORECASE)
_WORDS = {"true": "True", "false": "False", "none": "None", "null": "None"}
_EMPTY = re.compile(r"(?:an?|the)\s{1,9}empty\s{1,9}(string|list|tuple|dict(?:ionary)?)\b")
_EMPTY_VALUES = {"string": "''", "list": "[]", "tuple": "()"}
_CALL = re.compile(r"[A-Za-z_][\w.]{0,99}\(")
_ERROR = re.compile(
    r"(?:(?:an?|the|einen)\s{1,9})?`{0,2}(?P<name>(?:[A-Za-z_]\w{0,99}\.){0,5}[A-Za-z_]\w{0,99})"
)
_ERROR_NAME = re.compile(r"[A-Z]\w{0,99}(?:Error|Exception|Warning)")
_CLASS_NAME = re.compile(r"(?:[a-z]\w{0,99}\.){0,5}[A-Z]\w{0,99}")
_QUOTE = re.compile(r"[rRbBuU]{0,2}[\"']")
_CALL_BEHIND = r"`{0,2}[A-Za-z_][\w.]{0,99}\("
# Text that may follow a number or a word without changing its meaning.
_PLAIN_TAIL = re.compile(
    rf"""(?:\*\*|[*_"'])?(?:[ \t]{{0,999}}(?:$|[|;)#—–<]|//|\(|-{{1,2}}\s{{1,9}}(?!\d))
    |\s{{0,99}}\b(?:because|since|while|whereas|but|not|rounded|instead|so|again|i\.e|namely)\b
    |\s{{0,99}}\b(?:zurück|weil)\b
    |\s{{0,99}}\b(?:and|und|then|also)\s{{1,9}}(?:(?:then|also|that)\s{{1,9}})?
    (?:{_CALL_BEHIND}|[A-Za-z])
    |[.!:](?:[\s"')*_]|$)|[,;]\s{{1,9}}(?:`?[A-Za-z]|`{{1,2}}\w|$)|,{_CALL_BEHIND}
    |[.,;:]?[ \t]{{0,99}}\n\s{{0,99}}(?:[-*•+|>#`A-Z]|\d{{1,9}}[.)]|{_CALL_BEHIND}))""",
    re.VERBOSE,
)
_DOUBTFUL = re.compile(
    r"\w|[\"']{1,2}\w|(?:\*\*|[`_\"')]){0,3}(?:[ \t]{0,9}(?:[+/%=^&>\[](?!/)|<(?!/?[a-zA-Z])|\*{1,2}\s?[\w(\[\"']"
    r"|-\s?\d|\.\w|\.{2,3}|…|\?|,\s?[\d\"'\[({])"
    r"|\s{0,9}(?:zurück\b)?[,(]?\s{0,9}\b"
    r"(?:or|if|when|unless|except|depending|approximately|mostly|usually|oder|wenn|falls|außer"
    r"|sometimes|roughly|items?|elements?)\b"
    r"|\s{0,9}(?:is|was|would\sbe|looks)\s(?:wrong|incorrect|invalid|a\sbug|not))"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The source of a value, or the name of an exception."""

    source: str
    is_error: bool = False


def read_outcome(text: str, *, is_raised: bool = False) -> tuple[Outcome, int] | None:
    """Return the outcome that a text begins with, and its length; None where it is doubtful.

    With `is_raised` it is an exception, of any name that looks like a class.
    """
    if is_raised:
        raised = _read_error(text, _CLASS_NAME)
        is_clear = raised is not None and not _DOUBTFUL.match(text[raised[1] :])
        return (raised[0], raised[1]) if raised and is_clear else None
    lead_in = _LEAD_IN.match(text)
    start = lead_in.end() if lead_in else 0
    if text[start : start + 1] == "`":
        return _read_quoted(text, start)
    found = _read_value(text[start:]) or _read_error(text)
    if found is None:
        return None
    outcome, length, tail = found
    length += 0 if outcome.is_error else start
    rest = text[length:]
    if _DOUBTFUL.match(rest):
        return None
    return (outcome, length) if not tail or ends_plainly(rest) else None


def ends_plainly(rest: str) -> bool:
    """Return whether the text after a number or a word shows that the value is complete."""
    return rest[:1] == "`" or _PLAIN_TAIL.match(rest) is not None


def _read_quoted(text: str, start: int) -> tuple[Outcome, int] | None:
    """Return the outcome between backticks; None if they hold anything else."""
    mark = "``" if text.startswith("``", start) else "`"
    end = text.find(mark, start + len(mark))
    if end < 0:
        return None
    inner = text[start + len(mark) : end].strip()
    found = _read_value(inner) or _read_error(inner)
    after = end + len(mark)
    if found is None or inner[found[1] :].strip(" ."):
        return None
    rest = text[after:]
    return None if _DOUBTFUL.match(rest) else (found[0], after)


def _read_value(text: str) -> tuple[Outcome, int, bool] | None:
    """Return a value, its length, and whether the text after it may change it."""
    if found := _NUMBER.match(text):
        number = _literal(found[0].replace("−", "-"))
        return (Outcome(number), found.end(), True) if number else None
    if found := _WORD.match(text):
        return Outcome(_WORDS[found[0].lower()]), found.end(), True
    if found := _EMPTY.match(text):
        return Outcome(_EMPTY_VALUES.get(found[1], "{}")), found.end(), True
    quote, call = _QUOTE.match(text), _CALL.match(text)
    if not quote and not call and text[:1] not in ("(", "[", "{"):
        return None
    end = find_closing(text, call.end() - 1 if call else 0)
    source = text[:end] if end else ""
    if not source or (call and (is_error_name(call[0][:-1]) or not is_closed(source))):
        return None
    if call:
        return Outcome(source), len(source), False
    literal = _literal(source)
    is_doubtful = (
        source[0] == "(" and literal[:1] != "("
    )  # `("Venus")`: a tuple of one may be meant
    return (Outcome(literal), len(source), False) if literal and not is_doubtful else None


def _literal(source: str) -> str:
    """Return the normalized source of a literal, '' where it is none or has an ellipsis."""
    value = read_literal(source)
    is_known = value and "Ellipsis" not in repr(value)
    return ast.unparse(ast.parse(source, mode="eval")) if is_known else ""


def _read_error(
    text: str, pattern: re.Pattern[str] | None = None
) -> tuple[Outcome, int, bool] | None:
    found = _ERROR.match(text)
    name = found["name"] if found else ""
    if found is None or not (is_error_name(name) or (pattern and pattern.fullmatch(name))):
        return None
    end = found.end()
    if text[end : end + 1] == "(":
        end = find_closing(text, end) or end
    return Outcome(found["name"], is_error=True), end, False


def is_error_name(name: str) -> bool:
    """Return whether a name is a builtin exception's, or looks like one of the module's."""
    known = getattr(builtins, name, None)
    is_known = isinstance(known, type) and issubclass(known, BaseException)
    return is_known or _ERROR_NAME.fullmatch(name.rpartition(".")[2]) is not None
