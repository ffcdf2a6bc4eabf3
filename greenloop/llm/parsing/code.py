"""From a model's answer to a typed value, or to `Unusable` with what the model must mend."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import ValidationError

from greenloop.llm.parsing.code_blocks import Block, blocks, outside, parses, unfenced_code
from greenloop.llm.parsing.completeness import (
    elision,
    is_test_file,
    public_names,
    top_level_names,
    unwritten,
)
from greenloop.llm.parsing.errors import Unusable
from greenloop.llm.parsing.search_replace import apply_edits, edits_in
from greenloop.llm.response import Answer, json_value, whole_text
from greenloop.records import (
    Contract,
    Dispute,
    GeneratedCode,
    GeneratedTests,
    Repair,
    SealedExample,
)

# The test may be a node id, its parameters may hold blanks; a colon is not half of `::`.
_DISPUTE = re.compile(
    r"""^[\s>*\#-]*(\d+[.)]\s+)?[*`]*DISPUTE[*`:]*[ \t]+[`*]*
        (?P<test>[^\s`*\[]+?(\[[^\]\n]*\])?)
        [`*]*[ \t]*((?<!:):(?!:)|[—–]|[ ]-[ ])[`*]*[ \t]*\n?[ \t]*(?P<why>[^\s`].*)$""",
    re.MULTILINE | re.VERBOSE,
)


def read_code(answer: Answer, contract: Contract) -> GeneratedCode:
    """The whole module of an answer, keeping the contract's interface.

    Raises:
        Unusable: no code, elided or cut-off code, a test file, or a name of the interface missing.
    """
    text = whole_text(answer)
    names = public_names(contract.interface)
    code = _module(text, names, contract.module)
    check_whole(code)
    _check_module(code, names, contract.module)
    return GeneratedCode(code=code, explanation=prose(text))


def read_tests(answer: Answer, contract: Contract) -> GeneratedTests:
    """The pytest file and the sealed examples of an answer.

    Raises:
        Unusable: no test functions, elided or cut-off code, or the module is not imported.
    """
    text = whole_text(answer)
    code = _test_file(_python(text), contract.module)
    check_whole(code)
    return GeneratedTests(code=code, sealed=_sealed(text))


def read_script(answer: Answer) -> GeneratedCode:
    """A whole script; the same checks as for a module, but no interface to keep."""
    text = whole_text(answer)
    code = module_in(text)
    check_whole(code)
    return GeneratedCode(code=code, explanation=prose(text))


def module_in(text: str) -> str:
    """The code of an answer, where no names are known that it defines. Raises Unusable."""
    return _module(text, (), "")


def read_repair(answer: Answer, contract: Contract, current: str) -> Repair:
    """The repaired module (whole, or by SEARCH/REPLACE blocks on `current`) and the disputes.

    Raises:
        Unusable: neither code nor dispute, or an edit that does not fit `current`.
    """
    text = whole_text(answer)
    disputes = tuple(
        Dispute(test=found["test"], why=found["why"].strip()) for found in _DISPUTE.finditer(text)
    )
    code = _repaired(text, contract, current, only_disputes=bool(disputes))
    if code is not None:
        check_whole(code)
        _check_module(code, public_names(contract.interface), contract.module)
    return Repair(code=code, disputes=disputes, explanation=prose(_DISPUTE.sub("", text)))


def _repaired(text: str, contract: Contract, current: str, *, only_disputes: bool) -> str | None:
    edits = edits_in(text)
    if edits:
        return apply_edits(current, edits)
    if only_disputes and all(_is_quote(block) for block in blocks(text) if block.is_python):
        return None
    return _module(_DISPUTE.sub("", text), public_names(contract.interface), contract.module)


def _is_quote(block: Block) -> bool:
    """Whether a block only quotes a test or a calculation, and is no attempt at the module."""
    return parses(block.text) and (is_test_file(block.text) or not top_level_names(block.text))


def _python(text: str) -> list[str]:
    found = blocks(text)
    code = [block for block in found if block.is_python]
    if not code:
        bare = unfenced_code(text) if not found else _only_string(found)
        if bare is None:
            raise Unusable(
                "The answer holds no Python. Give the whole file in one ```python block."
            )
        return [bare]
    if not code[-1].closed and not parses(code[-1].text):
        raise Unusable("The answer ended inside its code block. Answer again, and whole.")
    return [block.text for block in code]


def _only_string(found: Sequence[Block]) -> str | None:
    """Code inside a fenced JSON object: `{"code": "def …"}`."""
    return next((code for block in found if (code := unfenced_code(block.text))), None)


def _module(text: str, names: Sequence[str], module: str) -> str:
    """Of several blocks the one with most of the names (the later of equals), or all together.

    Where no names are known (a script) the longest is the most likely.
    """
    found = _python(text)

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


def _test_file(found: Sequence[str], module: str) -> str:
    """The block with most tests (the later of equals), or all together, whichever can be used."""
    best = max(reversed(found), key=lambda item: item.count("def test"))
    if "def test" not in best:
        raise Unusable("The answer holds no test function (`def test_…`). Give one pytest file.")
    imports = rf"^\s*(from\s+{module}\s+import|import\s+([\w.]+\s*,\s*)*{module}\b)"
    for candidate in (best, "\n\n".join(found)):
        if re.search(imports, candidate, re.M):
            return candidate
    raise Unusable(f"The tests must import what they test from `{module}`.")


def check_whole(code: str) -> None:
    """Raises Unusable where something stands in for code left out."""
    if left_out := elision(code):
        raise Unusable(f"The code is not whole ({left_out}). Write every line out.")


def _check_module(code: str, names: Sequence[str], module: str) -> None:
    if not parses(code):
        return  # wrong code, but code: the repair sees its syntax error
    defined = set(top_level_names(code, module))
    if is_test_file(code) and not defined & set(names):
        raise Unusable("That is a test file; the module itself was asked for.")
    if missing := [name for name in names if name not in defined]:
        raise Unusable(f"The whole module is needed; it does not define: {', '.join(missing)}.")
    if empty := unwritten(code):
        raise Unusable(f"These functions were left unwritten: {', '.join(empty)}.")


def _sealed(text: str) -> tuple[SealedExample, ...]:
    try:
        items = json_value("\n".join(_fenced_json(text)), list)
    except Unusable:
        return ()
    return tuple(item for raw in items if (item := _one_sealed(raw)) is not None)


def _fenced_json(text: str) -> list[str]:
    return [f"```json\n{block.text}```" for block in blocks(text) if block.language == "json"]


def _one_sealed(raw: object) -> SealedExample | None:
    if not isinstance(raw, dict):
        return None
    known = {key: raw[key] for key in SealedExample.model_fields if key in raw}
    value = known.get("returns")
    if value is not None and not isinstance(value, str):
        known["returns"] = repr(value)  # the value itself instead of its literal: no doubt is left
    try:
        example = SealedExample.model_validate(known)
    except ValidationError:
        return None
    return example if (example.returns is None) != (example.raises is None) else None


def prose(text: str) -> str:
    """What stands outside of the answer's blocks, cut."""
    return outside(text)[:2000]
