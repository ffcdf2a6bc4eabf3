"""Parsers of tests: the test file with its held-out examples, and tests added to a suite."""

import re
from collections.abc import Sequence

from pydantic import ValidationError

from greenloop.llm.parsing.code import check_complete, extract_python
from greenloop.llm.parsing.code_blocks import extract_blocks
from greenloop.llm.parsing.completeness import public_names
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records import Contract, HeldOutExample
from greenloop.records.generation import AddedTests, GeneratedTests
from greenloop.testsuite.mending import mend_tests, wrap_assertions
from greenloop.testsuite.merge import find_clashes, remove_future_imports

_NO_TESTS_NEEDED = re.compile(r"^[\s*`]*NOTHING\b[\s:*`]*(?P<reason>.*)", re.MULTILINE)
# A lookahead: the text after an unfinished import may hold the next import.
_IMPORT = re.compile(
    r"^\s*(?=from\s+(?P<from>[\w.]+)\s+import|import\s+(?P<plain>([\w.]+\s*,\s*)*[\w.]+))", re.M
)
_MAX_REASON_CHARS = 500


def parse_tests(response: LLMResponse, contract: Contract, kept: str = "") -> GeneratedTests:
    """Return the pytest file and the held-out examples of an answer.

    If tests are `kept`, an answer without tests gives them its held-out examples.
    Raises InvalidResponse: no test functions, elided or truncated code, or the module is not
    imported.
    """
    text = extract_text(response)
    if kept and "def test" not in text:
        return GeneratedTests(code=kept, held_out=parse_held_out_examples(text))
    sources = [wrap_assertions(item) for item in extract_python(text)]
    selected = _select_test_file(sources, contract.module)
    code = mend_tests(selected, contract.module, public_names(contract.interface))
    if not _imports_module(code, contract.module):
        raise InvalidResponse(f"The tests must import what they test from `{contract.module}`.")
    check_complete(code)
    return GeneratedTests(code=code, held_out=parse_held_out_examples(text))


def parse_hardening(response: LLMResponse, contract: Contract, suite: str) -> AddedTests:
    """Return the tests to add to `suite`, or why the model says that none is needed.

    Raises InvalidResponse: neither tests nor `NOTHING`, or a name of `suite` is redefined.
    """
    text = extract_text(response)
    if (none := _NO_TESTS_NEEDED.search(text)) and "def test" not in text:
        return AddedTests(reason=none["reason"].strip()[:_MAX_REASON_CHARS])
    added = remove_future_imports(parse_tests(response, contract).code)
    if taken := find_clashes(suite, added):
        names = ", ".join(taken)
        raise InvalidResponse(
            f"The suite defines these names already: {names}. Choose other names."
        )
    return AddedTests(code=added)


def _select_test_file(sources: Sequence[str], module: str) -> str:
    """Return the block with the most tests, or all joined where only they import the module."""
    best = max(reversed(sources), key=lambda item: item.count("def test"))
    if "def test" not in best:
        raise InvalidResponse(
            "The answer holds no test function (`def test_…`). Give one pytest file."
        )
    for candidate in (best, "\n\n".join(sources)):
        if _imports_module(candidate, module):
            return candidate
    return best


def _imports_module(source: str, module: str) -> bool:
    """Return whether a line of a source, which need not parse, imports a module or parts of it."""
    for found in _IMPORT.finditer(source):
        names = re.split(r"\s*,\s*", found["plain"] or "")
        if found["from"] == module or any(f"{name}.".startswith(f"{module}.") for name in names):
            return True
    return False


def parse_held_out_examples(text: str) -> tuple[HeldOutExample, ...]:
    """Return the held-out examples of an answer; those of another form are left out."""
    blocks = (block.text for block in extract_blocks(text) if block.language == "json")
    try:
        items = extract_json("\n".join(f"```json\n{block}```" for block in blocks), list)
    except InvalidResponse:
        return ()
    return tuple(item for raw in items if (item := _parse_held_out_example(raw)) is not None)


def _parse_held_out_example(raw: object) -> HeldOutExample | None:
    if not isinstance(raw, dict):
        return None
    known = {key: raw[key] for key in HeldOutExample.model_fields if key in raw}
    if isinstance(known.get("call"), list):  # an object with state: the earlier calls too
        known["call"] = "\n".join(map(str, known["call"]))
    value = known.get("returns")
    if value is not None and not isinstance(value, str):
        known["returns"] = repr(value)  # a JSON value in place of a Python literal
    try:
        example = HeldOutExample.model_validate(known)
    except ValidationError:
        return None
    return example if (example.returns is None) != (example.raises is None) else None
