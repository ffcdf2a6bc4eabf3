"""Parsers of code: modules, scripts and repairs, checked for completeness."""

import re
from collections.abc import Sequence

from greenloop.llm.parsing.code_blocks import (
    CodeBlock,
    extract_blocks,
    find_unfenced_code,
    is_valid_python,
    text_outside_blocks,
)
from greenloop.llm.parsing.completeness import (
    find_elision,
    find_unwritten_functions,
    is_test_file,
    public_names,
    top_level_names,
)
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.search_replace import apply_edits, parse_edits
from greenloop.llm.response import LLMResponse, extract_text
from greenloop.records import Contract
from greenloop.records.generation import Dispute, GeneratedCode, Repair

# The test may be a node id whose parameters hold blanks; the separating colon is not part of `::`.
_DISPUTE = re.compile(
    r"""^[\s>*\#-]*(\d+[.)]\s+)?[*`]*DISPUTE[*`:]*[ \t]+[`*]*
        (?P<test>[^\s`*\[]+?(\[[^\]\n]*\])?)
        [`*]*[ \t]*((?<!:):(?!:)|[—–]|[ ]-[ ])[`*]*[ \t]*\n?[ \t]*(?P<why>[^\s`].*)$""",
    re.MULTILINE | re.VERBOSE,
)


def parse_code(response: LLMResponse, contract: Contract) -> GeneratedCode:
    """Return the whole module of an answer, which defines the contract's interface.

    Raises InvalidResponse: no code, elided or truncated code, a test file, or a missing name.
    """
    text = extract_text(response)
    names = public_names(contract.interface)
    code = select_module(text, names, contract.module)
    if not response.is_last:  # the tests find what is missing
        check_complete(code)
    _check_module(code, contract, is_last=response.is_last)
    return GeneratedCode(code=code, explanation=extract_prose(text))


def parse_script(response: LLMResponse) -> GeneratedCode:
    """Return a whole script, checked like a module without an interface."""
    text = extract_text(response)
    code = select_module(text)
    check_complete(code)
    return GeneratedCode(code=code, explanation=extract_prose(text))


def parse_repair(response: LLMResponse, contract: Contract, current: str) -> Repair:
    """Return the repaired module (whole, or by SEARCH/REPLACE blocks on `current`) and disputes.

    Raises InvalidResponse: neither code nor dispute, or an edit that does not apply to `current`.
    """
    text = extract_text(response)
    disputes = read_disputes(text)
    code = _extract_repair(text, contract, current, has_disputes=bool(disputes))
    if code is not None:
        check_complete(code, current)
        _check_module(code, contract, is_last=response.is_last)
    return Repair(code=code, disputes=disputes, explanation=extract_prose(_DISPUTE.sub("", text)))


def read_disputes(text: str) -> tuple[Dispute, ...]:
    """Return the disputes of an answer."""
    return tuple(
        Dispute(test=found["test"], why=found["why"].strip()) for found in _DISPUTE.finditer(text)
    )


def _extract_repair(
    text: str, contract: Contract, current: str, *, has_disputes: bool
) -> str | None:
    edits = parse_edits(text)
    if edits:
        return apply_edits(current, edits)
    if has_disputes and all(_is_quote(block) for block in extract_blocks(text) if block.is_python):
        return None
    return select_module(_DISPUTE.sub("", text), public_names(contract.interface), contract.module)


def _is_quote(block: CodeBlock) -> bool:
    """Return whether a block quotes a test or a calculation, and is not meant as the module."""
    return is_valid_python(block.text) and (
        is_test_file(block.text) or not top_level_names(block.text)
    )


def extract_python(text: str) -> list[str]:
    """Return the sources of an answer's Python blocks. Raises InvalidResponse without any."""
    found = extract_blocks(text)
    code = [block for block in found if block.is_python]
    if not code:
        texts = [block.text for block in found] or [text]  # one may be {"code": "def …"}
        bare = next(filter(None, map(find_unfenced_code, texts)), None)
        if bare is None:
            raise InvalidResponse(
                "The answer holds no Python. Give the whole file in one ```python block."
            )
        return [bare]
    if not code[-1].is_closed and not is_valid_python(code[-1].text):
        raise InvalidResponse("The answer ended inside its code block. Answer again, and whole.")
    return [block.text for block in code]


def select_module(text: str, names: Sequence[str] = (), module: str = "") -> str:
    """Return the block that defines most of `names`, or all joined where only they define all.

    Of equal blocks the last one is chosen; without `names` (a script) the longest one.
    Raises InvalidResponse: there is no Python.
    """
    found = extract_python(text)

    def coverage(source: str) -> int:
        return len(set(names) & set(top_level_names(source, module)))

    def rank(source: str) -> tuple[int, bool, int]:
        return coverage(source), not is_test_file(source), 0 if names else len(source)

    best = max(reversed(found), key=rank)
    parts = (item for item in found if top_level_names(item, module) and not is_test_file(item))
    joined = "\n\n".join(parts)
    if coverage(best) < len(names) and coverage(joined) == len(names):
        return joined
    return best


def check_complete(code: str, before: str = "") -> None:
    """Raise InvalidResponse where a placeholder, which was not there `before`, replaces code."""
    if left_out := find_elision(code, before):
        raise InvalidResponse(f"The code is not whole ({left_out}). Write every line out.")


def _check_module(code: str, contract: Contract, *, is_last: bool) -> None:
    if not is_valid_python(code):
        return  # the repair is shown the syntax error
    names = public_names(contract.interface)
    defined = set(top_level_names(code, contract.module))
    if is_test_file(code) and not defined & set(names):
        raise InvalidResponse("That is a test file; the module itself was asked for.")
    if missing := [name for name in names if name not in defined]:
        raise InvalidResponse(
            f"The whole module is needed; it does not define: {', '.join(missing)}."
        )
    if is_last or "NotImplementedError" in contract.model_dump_json():
        return  # an empty body may be meant, and the tests find one that is not
    if empty := find_unwritten_functions(code):
        raise InvalidResponse(f"These functions were left unwritten: {', '.join(empty)}.")


def extract_prose(text: str) -> str:
    """Return the text between the answer's blocks, truncated."""
    return text_outside_blocks(text)[:2000]
