"""Normalization of a contract's values: models give strings for lists, and lists for strings."""

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from greenloop.llm.parsing.code_blocks import extract_blocks

_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_NOTHING = re.compile(r"\W*(none|nothing|n/?a|empty|keine?|-)?\W*", re.IGNORECASE)
_TEXT_KEYS = ("text", "requirement", "description", "statement", "assumption", "quote", "name")
_SEPARATOR = re.compile(r"[\s,;`'\"\[\]]+")


def normalize_contract(raw: dict[str, Any], taken: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of a contract in their usual types; unknown keys are left out."""
    converters: dict[str, Callable[[Any], Any]] = {
        "module": lambda value: _to_text(value).strip("`'\" ").removesuffix(".py"),
        "summary": _to_text,
        "interface": _to_source,
        "requirements": lambda value: _number(_list_requirements(value), taken),
        "background": lambda value: [*map(_to_background, _to_list(value))],
        "not_covered": _to_texts,
        "assumptions": _to_texts,
        "packages": _to_names,
        "contradictions": lambda value: [*filter(None, map(_to_contradiction, _to_list(value)))],
        "choices": _to_list,
    }
    known = ((key, convert) for key, convert in converters.items() if raw.get(key) is not None)
    return {key: convert(raw[key]) for key, convert in known}


def is_nothing(text: str) -> bool:
    """Return whether an entry is empty, or a word such as "none"."""
    return _NOTHING.fullmatch(text.strip()) is not None


def _to_list(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value]
    return list(value) if isinstance(value, list | tuple) else [value]


def _to_text(value: Any) -> str:
    if isinstance(value, dict):
        known = (value[key] for key in _TEXT_KEYS if value.get(key))
        return _to_text(next(known, "; ".join(f"{key}: {item}" for key, item in value.items())))
    if isinstance(value, list | tuple):
        return " ".join(map(_to_text, value))
    return "" if value is None else str(value)


def _to_texts(value: Any) -> list[str]:
    texts = (_to_text(item).strip() for item in _to_list(value))
    return [item for item in texts if not is_nothing(item)]


def _to_names(value: Any) -> list[str]:
    names = [name for item in _to_texts(value) for name in _SEPARATOR.split(item)]
    return [name for name in names if not is_nothing(name)]


def _to_source(value: Any) -> str:
    """Return Python source from lines, from signatures by name, or from fenced blocks."""
    if isinstance(value, dict):
        value = list(value.values())
    text = "\n".join(map(_to_text, value)) if isinstance(value, list | tuple) else str(value)
    blocks = [item.text for item in extract_blocks(text)]
    return "\n".join(blocks) if blocks else text


def _list_requirements(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and not {"id", *_TEXT_KEYS} & value.keys():  # {"R1": "…"}
        value = [
            {"id": key, **(item if isinstance(item, dict) else {"text": item})}
            for key, item in value.items()
        ]
    for item in _to_list(value):
        fields = item if isinstance(item, dict) else {"text": item}
        quotes = next((fields[key] for key in ("quotes", "quote") if fields.get(key)), ())
        text = _to_text(
            {key: fields[key] for key in _TEXT_KEYS if key in fields and key != "quote"}
        )
        found = _NUMBER.search(str(fields.get("id", "")))
        entry: dict[str, Any] = {"id": f"R{found[0]}" if found else ""}
        if text.strip():
            entry |= {"text": text.strip(), "quotes": _to_texts(quotes)}
        if text.strip() or found:  # an id alone removes a requirement
            yield entry


def _number(items: Iterator[dict[str, Any]], taken: Collection[str]) -> list[dict[str, Any]]:
    """Return the items with unique ids; a missing or repeated id is replaced by a free one."""
    found = list(items)
    known = {*taken, *(item["id"] for item in found)}
    free = (f"R{n}" for n in range(1, 10_000) if f"R{n}" not in known)
    seen: set[str] = {""}
    for item in found:
        if item["id"] in seen:
            item["id"] = next(free)
        seen.add(item["id"])
    return found


def _to_background(value: Any) -> dict[str, str]:
    fields = value if isinstance(value, dict) else {"quote": value}
    reason = fields.get("reason")
    return {"quote": _to_text(fields), "reason": _to_text(reason) if reason else ""}


def _to_contradiction(value: Any) -> dict[str, Any] | None:
    """Return a contradiction of exactly two passages; None for any other value."""
    fields = value if isinstance(value, dict) else {}
    quotes = fields.get("quotes")
    if not isinstance(quotes, list | tuple) or len(quotes) != 2:
        return None
    return {"quotes": [_to_text(item) for item in quotes], "call": _to_text(fields.get("call"))}
