"""Reading the answer that adds tests for faults which nobody noticed."""

from __future__ import annotations

import re

from greenloop.llm.parsing.code import read_tests
from greenloop.llm.parsing.errors import Unusable
from greenloop.llm.response import Answer, whole_text
from greenloop.records import Contract
from greenloop.testsuite.merge import clashes, without_future

_NOTHING = re.compile(r"^[\s*`]*NOTHING\b", re.MULTILINE)


def read_hardening(answer: Answer, contract: Contract, suite: str) -> str:
    """The new tests; '' where the model holds that none is called for.

    Raises:
        Unusable: no tests and no such word, or a name of `suite` is defined again.
    """
    text = whole_text(answer)
    if _NOTHING.search(text) and "def test" not in text:
        return ""
    added = without_future(read_tests(answer, contract).code)
    if taken := clashes(suite, added):
        names = ", ".join(taken)
        raise Unusable(f"The suite defines these names already: {names}. Choose other names.")
    return added
