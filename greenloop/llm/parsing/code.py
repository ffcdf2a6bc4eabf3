"""From a model's answer to a typed value, or to `Unusable` with what the model must mend."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import ValidationError

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
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records import (
    Contract,
    Dispute,
    GeneratedCode,
    GeneratedTests,
    HeldOutExample,
    Repair,
)

# The test may be a node id, its parameters may hold blanks; a colon is not half of `::`.
_DISPUTE = re.compile(
    r"""^[\s>*\#-]*(\d+[.)]\s+)?[*`]*DISPUTE[*`:]*[ \t]+[`*]*
        (?P<test>[^\s`*\[]+?(\[[^\]\n]*\])?)
        [`*]*[ \t]*((?<!:):(?!:)|[—–]|[ ]-[ ])[`*]*[ \t]*\n?[ \t]*(?P<why>[^\s`].*)$""",
    re.MULTILINE | re.VERBOSE,
)


def parse_code(response: LLMResponse, contract: Contract) -> GeneratedCode:
    """The whole module of an answer, keeping the contract's interface.

    Raises:
        Unusable: no code, elided or cut-off code, a test file, or a name of the interface missing.
    """
    text = extract_text(response)
    names = public_names(contract.interface)
    code = _select_module(text, names, contract.module)
    check_complete(code)
    _check_module(code, names, contract.module)
    return GeneratedCode(code=code, explanation=extract_prose(text))


def parse_tests(response: LLMResponse, contract: Contract) -> GeneratedTests:
    """The pytest file and the sealed examples of an answer.

    Raises:
        Unusable: no test functions, elided or cut-off code, or the module is not imported.
    """
    text = extract_text(response)
    code = _select_test_file(_extract_python(text), contract.module)
    check_complete(code)
    return GeneratedTests(code=code, held_out=_parse_held_out_examples(text))


def parse_script(response: LLMResponse) -> GeneratedCode:
    """A whole script; the same checks as for a module, but no interface to keep."""
    text = extract_text(response)
    code = extract_module(text)
    check_complete(code)
    return GeneratedCode(code=code, explanation=extract_prose(text))


def extract_module(text: str) -> str:
    """The code of an answer, where no names are known that it defines. Raises Unusable."""
    return _select_module(text, (), "")


def parse_repair(response: LLMResponse, contract: Contract, current: str) -> Repair:
    """The repaired module (whole, or by SEARCH/REPLACE blocks on `current`) and the disputes.

    Raises:
        Unusable: neither code nor dispute, or an edit that does not fit `current`.
    """
    text = extract_text(response)
    disputes = tuple(
        Dispute(test=found["test"], why=found["why"].strip()) for found in _DISPUTE.finditer(text)
    )
    code = _extract_repair(text, contract, current, has_disputes=bool(disputes))
    if code is not None:
        check_complete(code)
        _check_module(code, public_names(contract.interface), contract.module)
    return Repair(code=code, disputes=disputes, explanation=extract_prose(_DISPUTE.sub("", text)))


def _extract_repair(
    text: str, contract: Contract, current: str, *, has_disputes: bool
) -> str | None:
    edits = parse_edits(text)
    if edits:
        return apply_edits(current, edits)
    if has_disputes and all(_is_quote(block) for block in extract_blocks(text) if block.is_python):
        return None
    return _select_module(_DISPUTE.sub("", text), public_names(contract.interface), contract.module)


def _is_quote(block: CodeBlock) -> bool:
    """Whether a block only quotes a test or a calculation, and is no attempt at the module."""
    return is_valid_python(block.text) and (
        is_test_file(block.text) or not top_level_names(block.text)
    )


def _extract_python(text: str) -> list[str]:
    found = extract_blocks(text)
    code = [block for block in found if block.is_python]
    if not code:
        bare = find_unfenced_code(text) if not found else _find_code_in_json(found)
        if bare is None:
            raise InvalidResponse(
                "The answer holds no Python. Give the whole file in one ```python block."
            )
        return [bare]
    if not code[-1].is_closed and not is_valid_python(code[-1].text):
        raise InvalidResponse("The answer ended inside its code block. Answer again, and whole.")
    return [block.text for block in code]


def _find_code_in_json(blocks_found: Sequence[CodeBlock]) -> str | None:
    """Code inside a fenced JSON object: `{"code": "def …"}`."""
    return next((code for block in blocks_found if (code := find_unfenced_code(block.text))), None)


def _select_module(text: str, names: Sequence[str], module: str) -> str:
    """Of several blocks the one with most of the names (the later of equals), or all together.

    Where no names are known (a script) the longest is the most likely.
    """
    found = _extract_python(text)

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


def _select_test_file(sources: Sequence[str], module: str) -> str:
    """The block with most tests (the later of equals), or all together, whichever can be used."""
    best = max(reversed(sources), key=lambda item: item.count("def test"))
    if "def test" not in best:
        raise InvalidResponse(
            "The answer holds no test function (`def test_…`). Give one pytest file."
        )
    imports = rf"^\s*(from\s+{module}\s+import|import\s+([\w.]+\s*,\s*)*{module}\b)"
    for candidate in (best, "\n\n".join(sources)):
        if re.search(imports, candidate, re.M):
            return candidate
    raise InvalidResponse(f"The tests must import what they test from `{module}`.")


def check_complete(code: str) -> None:
    """Raises Unusable where something stands in for code left out."""
    if left_out := find_elision(code):
        raise InvalidResponse(f"The code is not whole ({left_out}). Write every line out.")


def _check_module(code: str, names: Sequence[str], module: str) -> None:
    if not is_valid_python(code):
        return  # wrong code, but code: the repair sees its syntax error
    defined = set(top_level_names(code, module))
    if is_test_file(code) and not defined & set(names):
        raise InvalidResponse("That is a test file; the module itself was asked for.")
    if missing := [name for name in names if name not in defined]:
        raise InvalidResponse(
            f"The whole module is needed; it does not define: {', '.join(missing)}."
        )
    if empty := find_unwritten_functions(code):
        raise InvalidResponse(f"These functions were left unwritten: {', '.join(empty)}.")


def _parse_held_out_examples(text: str) -> tuple[HeldOutExample, ...]:
    try:
        items = extract_json("\n".join(_extract_json_blocks(text)), list)
    except InvalidResponse:
        return ()
    return tuple(item for raw in items if (item := _parse_held_out_example(raw)) is not None)


def _extract_json_blocks(text: str) -> list[str]:
    return [
        f"```json\n{block.text}```" for block in extract_blocks(text) if block.language == "json"
    ]


def _parse_held_out_example(raw: object) -> HeldOutExample | None:
    if not isinstance(raw, dict):
        return None
    known = {key: raw[key] for key in HeldOutExample.model_fields if key in raw}
    value = known.get("returns")
    if value is not None and not isinstance(value, str):
        known["returns"] = repr(value)  # the value itself instead of its literal: no doubt is left
    try:
        example = HeldOutExample.model_validate(known)
    except ValidationError:
        return None
    return example if (example.returns is None) != (example.raises is None) else None


def extract_prose(text: str) -> str:
    """What stands outside of the answer's blocks, cut."""
    return text_outside_blocks(text)[:2000]
