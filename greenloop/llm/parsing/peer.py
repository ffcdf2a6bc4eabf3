"""Parsers of a second implementation, and of rulings on its differences from the code."""

from collections.abc import Collection, Sequence
from typing import Any

from pydantic import ValidationError

from greenloop.llm.parsing.code import check_complete, extract_python
from greenloop.llm.parsing.code_blocks import is_valid_python
from greenloop.llm.parsing.completeness import public_names, top_level_names
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records.generation import DifferenceRuling, GeneratedPeer
from greenloop.syntax.values import is_plain_value

_MAX_EXPECTED_CHARS = 10_000
_RULING_FORM = (
    'Answer one entry for each difference: {"id": 1, "right": "first", "second", "neither", '
    '"wording", "outside" or "text does not say", "because": "…", "expected": literal or null}.'
)


def parse_peer(response: LLMResponse, interface: str, module: str) -> GeneratedPeer:
    """Return the module of an answer, and the source of its `inputs` and `allowed`.

    Raises InvalidResponse: no code, elided or truncated code, a name of the interface is missing,
    or there is no `inputs` beside the module.
    """
    sources = extract_python(extract_text(response))
    code, inputs = _separate_inputs(sources, module)
    check_complete(code)
    for source in (code, inputs):
        if not is_valid_python(source):
            raise InvalidResponse("A block is not valid Python. Answer with both blocks again.")
    defined = top_level_names(code, module)
    if missing := [name for name in public_names(interface) if name not in defined]:
        raise InvalidResponse(f"The module does not define: {', '.join(missing)}.")
    return GeneratedPeer(code=code, inputs=inputs)


def _separate_inputs(sources: Sequence[str], module: str) -> tuple[str, str]:
    """Return the module, and the last block that defines `inputs` (the module may do so, too)."""
    with_inputs = [item for item in sources if "inputs" in top_level_names(item, module)]
    others = [item for item in sources if item not in with_inputs] or with_inputs[:-1]
    if not with_inputs or not others:
        raise InvalidResponse(
            "Give two ```python blocks: the whole module, then `inputs(rng)` and "
            "`allowed(*arguments)`."
        )
    return "\n\n".join(others), with_inputs[-1]


def parse_rulings(response: LLMResponse, ids: Collection[int]) -> tuple[DifferenceRuling, ...]:
    """Return the rulings on the differences with these ids, one each.

    Raises InvalidResponse: there is no such list, or a difference has no ruling.
    """
    items = extract_json(extract_text(response), list)
    found = {item.id: item for raw in items if (item := _parse_ruling(raw)) and item.id in ids}
    if missing := [str(number) for number in ids if number not in found]:
        raise InvalidResponse(f"There is no ruling on {', '.join(missing)}. {_RULING_FORM}")
    return tuple(found[number] for number in ids)


def _parse_ruling(raw: object) -> DifferenceRuling | None:
    if not isinstance(raw, dict):
        return None
    known = {key: raw[key] for key in DifferenceRuling.model_fields if raw.get(key) is not None}
    known["right"] = str(known.get("right", "")).strip().lower().removeprefix("the ")
    known["because"] = str(known.get("because", ""))
    known["expected"] = _parse_expected(known.get("expected"))
    try:
        return DifferenceRuling.model_validate(known)
    except ValidationError:
        return None


def _parse_expected(value: Any) -> str | None:
    """Return a Python literal as text, given as a string or as a JSON value; None for others."""
    text = value if isinstance(value, str) else None if value is None else repr(value)
    if text is None or len(text) > _MAX_EXPECTED_CHARS or not is_plain_value(text):
        return None
    return text.strip()
