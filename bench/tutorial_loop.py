"""The loop that tutorials on coding agents describe, as a baseline for bench/three_arms.py.

Generate code; generate pytest tests for that code; run both; while a test fails, show the model the code
and pytest's output and take the code of its answer, at most `max_rounds` times. The claim is green where
all tests of the last run pass. Prompts are short, as in such tutorials. The one difference: tests run in
greenloop's sandbox, because the code is untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from greenloop.sandbox import Sandbox

MODULE = "solution"
MAX_ROUNDS = 5
_BLOCK = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)

WRITE = (
    "You are an expert Python programmer. Write a Python module for this specification. "
    "Answer with one Python code block.\n\n{specification}"
)
TEST = (
    "Write pytest tests for this module, which is saved as solution.py. Import what you test from "
    "solution. Answer with one Python code block.\n\nSpecification:\n{specification}\n\n"
    "```python\n{code}\n```"
)
REPAIR = (
    "The tests of this module fail. Fix the module. Answer with the whole module in one Python code "
    "block.\n\nSpecification:\n{specification}\n\nsolution.py:\n```python\n{code}\n```\n\n"
    "test_solution.py:\n```python\n{tests}\n```\n\npytest says:\n{output}"
)


@dataclass
class Spent:
    """Usage of an arm of the comparison so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


Ask = Callable[[str, Spent], str]  # sends a prompt, counts it, and returns the answer's text


@dataclass(frozen=True)
class LoopResult:
    """The last code and tests of a loop, and whether it claims that they are right."""

    code: str
    tests: str
    is_green: bool
    spent: Spent = field(default_factory=Spent)


def extract_code(answer: str) -> str:
    """Return the longest fenced block of an answer; the whole answer where it has none."""
    blocks = _BLOCK.findall(answer)
    return max(blocks, key=len) if blocks else answer


def answer_once(ask: Ask, specification: str) -> LoopResult:
    """Return the code of one answer, which always counts as a claim to be right."""
    spent = Spent()
    code = extract_code(ask(WRITE.format(specification=specification), spent))
    return LoopResult(code, "", True, spent)


def run_tutorial_loop(
    ask: Ask, specification: str, box: Sandbox, max_rounds: int = MAX_ROUNDS
) -> LoopResult:
    """Write code and tests, then repair the code until the tests pass, at most `max_rounds` times."""
    spent = Spent()
    code = extract_code(ask(WRITE.format(specification=specification), spent))
    tests = extract_code(ask(TEST.format(specification=specification, code=code), spent))
    for round_number in range(max_rounds + 1):
        run = box.run_tests(code, tests, module=MODULE)
        if run.passed:
            return LoopResult(code, tests, True, spent)
        if round_number < max_rounds:
            prompt = REPAIR.format(
                specification=specification, code=code, tests=tests, output=run.output[-4_000:]
            )
            code = extract_code(ask(prompt, spent))
    return LoopResult(code, tests, False, spent)
