"""Reading the answer that adds tests for faults which nobody noticed."""

from __future__ import annotations

import re

from greenloop.llm.parsing.code import parse_tests
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse, extract_text
from greenloop.records import Contract
from greenloop.testsuite.merge import find_clashes, remove_future_imports

_NO_TESTS_NEEDED = re.compile(r"^[\s*`]*NOTHING\b", re.MULTILINE)


def parse_hardening(response: LLMResponse, contract: Contract, suite: str) -> str:
    """The new tests; '' where the model holds that none is called for.

    Raises:
        Unusable: no tests and no such word, or a name of `suite` is defined again.
    """
    text = extract_text(response)
    if _NO_TESTS_NEEDED.search(text) and "def test" not in text:
        return ""
    added = remove_future_imports(parse_tests(response, contract).code)
    if taken := find_clashes(suite, added):
        names = ", ".join(taken)
        raise InvalidResponse(
            f"The suite defines these names already: {names}. Choose other names."
        )
    return added
