"""Parsers of a change: its location, its contract, its tests and its code."""

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from greenloop.dependencies import PackageAllowlist
from greenloop.errors import SpecificationError
from greenloop.llm.parsing.changes.file_edits import apply_file_edits, read_test_files
from greenloop.llm.parsing.code import extract_prose, read_disputes
from greenloop.llm.parsing.code_blocks import extract_blocks
from greenloop.llm.parsing.completeness import top_level_names
from greenloop.llm.parsing.contracts.answer import parse_contract
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.tests import parse_held_out_examples
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.project.patch import diff_files
from greenloop.records import ChangePlan, KeptBehaviour, Location
from greenloop.records.generation import GeneratedPeer, GeneratedTestFiles, Repair
from greenloop.specification.examples import Specification

MAX_LOCATED = 6
_MAX_GLOBS = 40
_MODULE = "project"  # a contract needs a module; only judges see that of a change


def parse_location(response: LLMResponse, paths: Collection[str], *, may_need: bool) -> Location:
    """Return the files of the project that an answer names.

    Raises InvalidResponse: it names no file, or one that the project does not have.
    """
    value = extract_json(extract_text(response), dict, "files", "need")
    files, need = (_read_paths(value.get(key), paths) for key in ("files", "need"))
    if not files and not (may_need and need):
        raise InvalidResponse('Name at least one file of the map: {"files": ["path"], "why": "…"}.')
    return Location(files=files, need=() if files else need, why=str(value.get("why", "")))


def _read_paths(value: Any, paths: Collection[str]) -> tuple[str, ...]:
    named = dict.fromkeys(item.removeprefix("./") for item in _read_strings(value))
    for name in named:
        if name not in paths:
            close = get_close_matches(name, paths, n=3)
            hint = f" Did you mean {', '.join(close)}?" if close else ""
            raise InvalidResponse(f"{name} is not a file of the map.{hint}")
    return tuple(named)[:MAX_LOCATED]


def _read_strings(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def parse_plan(
    response: LLMResponse,
    *,
    wish: str,
    allowed: PackageAllowlist,
    tests: Collection[str],
    fence: Sequence[str] = (),
) -> ChangePlan:
    """Return the contract of a change. `tests` are node ids; `fence` replaces the model's.

    Raises:
        InvalidResponse: the answer is no contract, has no fence, or names an unknown test.
        SpecificationError: the answer says that the wish asks for no change.
    """
    value = extract_json(extract_text(response), dict)
    if value.get("requirements") == []:
        raise SpecificationError(f"the text asks for no change: {value.get('summary', '')}")
    contract = parse_contract(
        response, specification=Specification(wish, "", ()), module=_MODULE, allowed=allowed
    )
    entries = value.get("keep")
    keep = tuple(_read_kept(item, tests) for item in (entries if isinstance(entries, list) else ()))
    if len({item.id for item in keep}) < len(keep):
        raise InvalidResponse('Two entries of "keep" have the same id.')
    return ChangePlan(
        contract=contract.model_copy(update={"keep": keep}),
        touches=_read_strings(value.get("touches")),
        fence=tuple(fence) or _read_fence(value.get("fence")),
        contradicts=_read_tests(value.get("contradicts"), tests),
    )


def _read_kept(value: Any, tests: Collection[str]) -> KeptBehaviour:
    try:
        kept = KeptBehaviour.model_validate(value)
    except ValidationError as error:
        raise InvalidResponse(f'An entry of "keep" is wrong: {error.errors()[0]["msg"]}.') from None
    return kept.model_copy(update={"tests": tuple(item for item in kept.tests if item in tests)})


def _read_fence(value: Any) -> tuple[str, ...]:
    globs = tuple(item.removeprefix("./") for item in _read_strings(value))[:_MAX_GLOBS]
    if not globs:
        raise InvalidResponse('"fence" is empty: name the files that may be changed or added.')
    for item in globs:
        if item.startswith(("/", "~")) or ".." in item.split("/"):
            raise InvalidResponse(f'"fence": {item} leads out of the project.')
    return globs


def _read_tests(value: Any, tests: Collection[str]) -> tuple[str, ...]:
    """Return the node ids of tests, without parameters."""
    named = tuple(dict.fromkeys(item.partition("[")[0] for item in _read_strings(value)))
    known = {item.partition("[")[0] for item in tests}
    for item in named:
        if item not in known:
            raise InvalidResponse(f'"contradicts": {item} is not a test of the project.')
    return named


def parse_test_files(
    response: LLMResponse, texts: Mapping[str, str], replaceable: Collection[str]
) -> GeneratedTestFiles:
    """Return the test files and the held-out examples of an answer. Raises InvalidResponse."""
    text = extract_text(response)
    files = read_test_files(text, texts, replaceable)
    return GeneratedTestFiles(files=files, held_out=parse_held_out_examples(text))


def parse_change(
    response: LLMResponse,
    *,
    base: Mapping[str, str],
    current: Mapping[str, str],
    fence: Sequence[str],
    tests: Collection[str] = (),
    may_dispute: bool = False,
) -> Repair:
    """Return the diff between `base` and the files in `current` after the edits of an answer.

    `tests` are files that may not be changed, besides those that are named like tests.
    Raises InvalidResponse: it changes nothing and disputes nothing, or an edit does not apply.
    """
    text = extract_text(response)
    disputes = read_disputes(text) if may_dispute else ()
    changed = apply_file_edits(text, current, fence, tests)
    if not changed and not disputes:
        raise InvalidResponse(
            "The answer changes no file. Give edits under `# file: PATH` lines, as described."
        )
    code = diff_files(base, {**current, **changed}) if changed else None
    prose = re.split(r"^[ \t]*#? ?file:|^[ \t]*DISPUTE\b", text, maxsplit=1, flags=re.M)[0]
    return Repair(code=code, disputes=disputes, explanation=extract_prose(prose))


def parse_change_peer(
    response: LLMResponse, base: Mapping[str, str], fence: Sequence[str], tests: Collection[str]
) -> GeneratedPeer:
    """Return a change as a diff, and the source of its `inputs` ('' where it has none).

    Raises InvalidResponse: it changes nothing, or an edit does not apply.
    """
    change = parse_change(response, base=base, current=base, fence=fence, tests=tests)
    sources = [item.text for item in extract_blocks(extract_text(response))]
    inputs = [text for text in sources if "inputs" in top_level_names(text, _MODULE)]
    return GeneratedPeer(code=change.code or "", inputs=inputs[-1] if inputs else "")
