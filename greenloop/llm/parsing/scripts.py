"""Reading scripts, proposed checks, and repairs of what exists already."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from greenloop.llm.parsing.code import check_whole, module_in, prose
from greenloop.llm.parsing.errors import Unusable
from greenloop.llm.parsing.search_replace import apply_edits, edits_in
from greenloop.llm.response import Answer, json_value, whole_text
from greenloop.records import Dispute, OutputCheck, Repair
from greenloop.scripts.checks.json_form import read_proposed

_DISPUTE = re.compile(r"^[\s>*\#-]*[*`]*DISPUTE[*`:]*[ \t]+(?P<rest>\S.*)$", re.MULTILINE)
_SHOWN = 12
Lost = Callable[[str], Sequence[str]]


def read_checks(answer: Answer) -> tuple[OutputCheck, ...]:
    """The checks that a model proposes. Raises Unusable where one has no meaning."""
    try:
        return read_proposed(json_value(whole_text(answer), list))
    except ValueError as error:
        raise Unusable(str(error)) from None


def read_mended(answer: Answer, current: str, lost: Lost, checks: Collection[str] = ()) -> Repair:
    """The repaired source, whole or by SEARCH/REPLACE blocks on `current`, and disputed checks.

    `lost` says what a repair lost that has to stay; `checks` are the ids that may be disputed.

    Raises:
        Unusable: neither code nor dispute, an edit that does not fit, or something is lost.
    """
    text = whole_text(answer)
    disputes = tuple(
        item for line in _DISPUTE.finditer(text) if (item := _of(line["rest"], checks))
    )
    text = _DISPUTE.sub("", text)
    edits = edits_in(text)
    if not edits and disputes and "```" not in text:
        return Repair(code=None, disputes=disputes, explanation=prose(text))
    code = apply_edits(current, edits) if edits else module_in(text)
    check_whole(code)
    if gone := list(lost(code)):
        raise Unusable(_too_much(gone))
    return Repair(code=code, disputes=disputes, explanation=prose(text))


def _of(rest: str, checks: Collection[str]) -> Dispute | None:
    """The check that a line disputes: the longest id that it begins with, quoted or not."""
    bare = rest.lstrip("`'\"* ")
    named = [item for item in checks if bare.startswith(item)]
    if not named:
        return None
    test = max(named, key=len)
    why = bare[len(test) :].lstrip("`'\"*:—–- \t")
    return Dispute(test=test, why=why or "no reason was given")


def _too_much(gone: Sequence[str]) -> str:
    lines = "\n".join(f"- {item}" for item in gone[:_SHOWN])
    return f"The repair takes away what has to stay:\n{lines}\nAnswer again, with all of it kept."
