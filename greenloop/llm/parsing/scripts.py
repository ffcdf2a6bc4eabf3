"""Parsers of proposed checks and of repairs of existing code."""

import re
from collections.abc import Callable, Collection, Sequence

from greenloop.llm.parsing.code import check_complete, extract_prose, select_module
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.search_replace import apply_edits, parse_edits
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records import OutputCheck
from greenloop.records.generation import Dispute, Repair
from greenloop.scripts.checks.json_form import checks_from_json

_DISPUTE = re.compile(r"^[\s>*\#-]*[*`]*DISPUTE[*`:]*[ \t]+(?P<rest>\S.*)$", re.MULTILINE)
_MAX_LISTED = 12
RegressionFinder = Callable[[str], Sequence[str]]


def parse_checks(response: LLMResponse) -> tuple[OutputCheck, ...]:
    """Return the checks that a model proposes. Raises InvalidResponse where one is not valid."""
    try:
        return checks_from_json(extract_json(extract_text(response), list))
    except ValueError as error:
        raise InvalidResponse(str(error)) from None


def parse_script_repair(
    response: LLMResponse,
    current: str,
    find_regressions: RegressionFinder,
    checks: Collection[str] = (),
) -> Repair:
    """Return the repaired source, whole or by SEARCH/REPLACE blocks on `current`, and disputes.

    `find_regressions` lists what a repair removed that must stay; `checks` are the ids that may be
    disputed.
    Raises InvalidResponse: neither code nor dispute, an edit that does not apply, or a regression.
    """
    text = extract_text(response)
    disputes = tuple(
        item for line in _DISPUTE.finditer(text) if (item := _parse_dispute(line["rest"], checks))
    )
    text = _DISPUTE.sub("", text)
    edits = parse_edits(text)
    if not edits and disputes and "```" not in text:
        return Repair(code=None, disputes=disputes, explanation=extract_prose(text))
    code = apply_edits(current, edits) if edits else select_module(text)
    check_complete(code, current)
    if removed := list(find_regressions(code)):
        lines = "\n".join(f"- {item}" for item in removed[:_MAX_LISTED])
        raise InvalidResponse(
            f"The repair takes away what has to stay:\n{lines}\nAnswer again, with all of it kept."
        )
    return Repair(code=code, disputes=disputes, explanation=extract_prose(text))


def _parse_dispute(rest: str, checks: Collection[str]) -> Dispute | None:
    """Return the dispute of a line: its check is the longest id that the line begins with."""
    bare = rest.lstrip("`'\"* ")
    named = [item for item in checks if bare.startswith(item)]
    if not named:
        return None
    test = max(named, key=len)
    why = bare[len(test) :].lstrip("`'\"*:—–- \t")
    return Dispute(test=test, why=why or "no reason was given")
