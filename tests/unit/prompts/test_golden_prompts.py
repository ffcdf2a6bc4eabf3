"""Golden files of all prompts; UPDATE_GOLDEN=1 rewrites them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from greenloop import prompts
from greenloop.prompts.failure_context import ShownFailure
from greenloop.prompts.rendering import PromptTemplates
from greenloop.records import Background, Choice, Contract, Finding, Requirement, Survivor
from greenloop.tools.peer_toolkit import FailedExample, ShownDifference
from tests.unit.prompts.change_contexts import CHANGES
from tests.unit.prompts.script_contexts import SCRIPTS

GOLDEN = Path(__file__).parent / "golden"
TEMPLATES = Path(prompts.__file__).parent / "templates"

MINIMAL = Contract(
    module="roman",
    summary="Roman numerals.",
    interface="def to_roman(number: int) -> str: ...\n",
    requirements=(Requirement(id="R1", text="to_roman(1) == 'I'"),),
)
RICH = Contract(
    module="roman",
    summary="Roman numerals, both ways & <checked>.",
    interface=(
        "class NotRoman(ValueError): ...\n\n"
        "def to_roman(number: int) -> str:\n"
        '    """The numeral. Raises NotRoman outside of 1 to 3999."""\n    ...\n\n'
    ),
    requirements=(
        Requirement(id="R1", text="to_roman(4) == 'IV'"),
        Requirement(id="R2", text="to_roman(0) raises NotRoman"),
    ),
    assumptions=("Upper case is given.", "bool is refused like any wrong type."),
    choices=(
        Choice(id="C1", question="In which case?", answers=("f(1) -> 'I'",), chosen="f(1) -> 'I'"),
    ),
    packages=("attrs", "pyyaml"),
    specification="\nWrite Roman numerals {{ please }}.\n\n",
)
CODE = "def to_roman(number):\n    return 'IIII'\n\n"
FAILURES = (
    ShownFailure(
        test="test_roman.py::test_four",
        exception="AssertionError",
        message="assert 'IIII' == 'IV'",
        source='def test_four():\n    """R1: four."""\n    assert to_roman(4) == "IV"\n',
        lines=("roman.py:2 in to_roman: return 'IIII'",),
        output="converting 4",
    ),
    ShownFailure(test="test_zero", exception="Failed", message="DID NOT RAISE NotRoman"),
)
FINDINGS = (
    Finding(line=2, severity="error", message="4 gives IIII"),
    Finding(line=None, severity="style", message="no docstring"),
)
SURVIVORS = (
    Survivor(
        id="roman:4:boundary",
        line=4,
        function="to_roman",
        operator="boundary",
        diff="@@ -3,3 +3,3 @@\n def above(number):\n-    if number < 1:\n+    if number <= 1:\n     below\n",
        question="What does to_roman give for 1? (boundary of `number < 1`)",
        reached=True,
    ),
    Survivor(
        id="roman:9:return",
        line=9,
        function="to_roman",
        operator="return",
        diff="@@ -9 +9 @@\n-    return text\n+    return None\n",
        question="What does to_roman return?",
        reached=False,
    ),
)
TEXTS = {"minimal": "Roman numerals.", "rich": "\nRoman numerals.\n\nAnd back.\n"}
NO_REPAIR: dict[str, Any] = {
    "summary": "",
    "failures": (),
    "omitted": 0,
    "findings": (),
    "history": (),
    "rulings": (),
}

CONTEXTS: dict[str, dict[str, Any]] = {
    **SCRIPTS,
    **CHANGES,
    "parse_specification.minimal": {
        "specification": "Roman numerals.",
        "module": "",
        "signatures": "",
        "examples": "",
        "given_tests": "",
        "available_packages": (),
        "complaints": (),
        "previous": "",
    },
    "parse_specification.rich": {
        "specification": "\nRoman numerals.\n\nAnd back.\n",
        "module": "roman",
        "signatures": "def to_roman(number: int) -> str: ...\n",
        "examples": ">>> to_roman(4)\n'IV'\n",
        "given_tests": "def test_one():\n    assert to_roman(1) == 'I'\n",
        "available_packages": ("numpy", "attrs"),
        "complaints": ('Nothing takes up this passage: "And back."',),
        "previous": RICH.format_answer(),
    },
    "generate_code.minimal": {
        "contract": MINIMAL,
        "python_version": "3.11",
        "failed_approaches": (),
    },
    "generate_code.rich": {
        "contract": RICH,
        "python_version": "3.11",
        "failed_approaches": ("A table of digits: 2 failed.", "Recursion: 1 failed."),
    },
    "generate_tests.minimal": {
        "contract": MINIMAL,
        "complaints": (),
        "previous": "",
        "keep_held_out": False,
        "keep_tests": False,
    },
    "generate_tests.of_examples": {
        "contract": MINIMAL,
        "complaints": ("Give at least 4 held-out examples, half of them with `returns`.",),
        "previous": "def test_x():\n    assert to_roman(1) == 'I'\n",
        "keep_held_out": False,
        "keep_tests": True,
    },
    "generate_tests.rich": {
        "contract": RICH,
        "complaints": ("test_x names no requirement.", "No test names R2."),
        "previous": "def test_x():\n    assert to_roman(4) == 'IV'\n\n",
        "keep_held_out": True,
        "keep_tests": False,
    },
    **{
        f"generate_code_plain.{kind}": {"specification": text, "python_version": "3.11"}
        for kind, text in TEXTS.items()
    },
    **{
        f"generate_tests_plain.{kind}": {
            "specification": text,
            "names": ("to_roman", "from_roman")[:number],
            "python_version": "3.11",
        }
        for number, (kind, text) in enumerate(TEXTS.items(), 1)
    },
    **{
        f"repair_code_plain.{kind}": {
            "specification": text,
            "python_version": "3.11",
            "code": CODE,
            "summary": "1 test passed, 2 did not.",
            "failures": FAILURES[:number],
        }
        for number, (kind, text) in enumerate(TEXTS.items(), 1)
    },
    "harden_tests.minimal": {
        "contract": MINIMAL,
        "suite": "def test_x():\n    assert to_roman(1) == 'I'\n",
        "survivors": SURVIVORS[:1],
        "missed": ("mutants: score 50% (at least 80%): 1 noticed, 1 survived",),
        "omitted": 0,
    },
    "harden_tests.rich": {
        "contract": RICH,
        "suite": "def test_x():\n    assert to_roman(4) == 'IV'\n\n",
        "survivors": SURVIVORS,
        "missed": ("mutants: score 60% (at least 80%)", "lines: 85% (at least 90%)"),
        "omitted": 3,
    },
    "review_code.minimal": {
        "contract": MINIMAL,
        "doubtful_background": (),
        "numbered_code": "   1 x = 1",
        "diff": "",
        "findings": (),
    },
    "review_code.repaired": {
        "contract": MINIMAL,
        "doubtful_background": (),
        "numbered_code": "",
        "diff": "--- reviewed\n+++ repaired\n@@ -1,1 +1,1 @@\n-x = 1\n+x = 2\n",
        "findings": FINDINGS[:1],
    },
    "review_code.rich": {
        "contract": RICH,
        "doubtful_background": (
            Background(quote="We must not lose the archive.", reason="a motive"),
            Background(quote="There are 200 files."),
        ),
        "diff": "",
        "findings": (),
        "numbered_code": "   1 def to_roman(number):\n   2     return 'IIII'\n",
    },
    "repair_code.minimal": {
        "contract": MINIMAL,
        "python_version": "3.11",
        "numbered_code": CODE,
        **NO_REPAIR,
        "summary": "0 tests passed, 1 did not.",
        "failures": FAILURES[1:],
    },
    "repair_code.review": {
        "contract": MINIMAL,
        "python_version": "3.11",
        "numbered_code": CODE,
        **NO_REPAIR,
        "findings": FINDINGS,
    },
    "repair_code.rich": {
        "contract": RICH,
        "python_version": "3.11",
        "numbered_code": CODE,
        "summary": "3 tests passed, 9 did not.",
        "failures": FAILURES,
        "omitted": 7,
        "findings": FINDINGS,
        "history": ("1: generate, 2 failed", "2: repair, 2 failed"),
        "rulings": ("test_four: R1 says IV.",),
    },
    "write_peer.minimal": {
        "module": "roman",
        "names": ("to_roman",),
        "with_names": False,
        "taken": (),
        "interface": "def to_roman(number):\n    ...\n",
        "specification": "Roman numerals.\n",
        "packages": (),
        "python_version": "3.11",
        "failed_examples": (),
        "previous_inputs": "",
        "previous": "",
    },
    "write_peer.rich": {
        "module": "roman",
        "names": ("NotRoman", "to_roman"),
        "with_names": True,
        "taken": (Choice(id="C1", question="Of 0?", chosen="to_roman(0) raises ValueError"),),
        "interface": "class NotRoman(ValueError):\n    ...\n\ndef to_roman(number, upper=...):\n    ...\n",
        "specification": "\nWrite Roman numerals {{ please }}.\n\n",
        "packages": ("attrs",),
        "python_version": "3.11",
        "failed_examples": (
            FailedExample(
                "def test_specification_example_1():\n    assert 1\n", "AssertionError: 1"
            ),
        ),
        "previous_inputs": "def inputs(rng):\n    yield (1,)\n",
        "previous": CODE,
    },
    "judge_difference.minimal": {
        "specification": "Roman numerals.\n",
        "differences": (ShownDifference(1, "to_roman(4)", "'IV'", "'IIII'"),),
        "taken": (),
    },
    "judge_difference.rich": {
        "specification": "\nWrite Roman numerals {{ please }}.\n\n",
        "differences": (
            ShownDifference(3, f"to_roman({'ab' * 12!r})", f"{'x' * 40!r}", "''"),
            ShownDifference(1, "to_roman(0)", "raises NotRoman('<0>')", "''"),
            ShownDifference(
                2, "def test_four():\n    assert 1\n", "this test passes", "this test fails", True
            ),
        ),
        "taken": RICH.choices,
    },
    "judge_test.minimal": {
        "contract": MINIMAL,
        "test_source": "assert 1\n",
        "claim": "R1 says I",
        "is_example": False,
    },
    "judge_test.rich": {
        "contract": RICH,
        "test_source": FAILURES[0].source,
        "claim": "R1 says 'IV',\nnot \"IIII\"",
        "is_example": True,
    },
}


def render(name: str) -> str:
    prompt = PromptTemplates().render(name.partition(".")[0], **CONTEXTS[name])
    return "\n\n".join(f"##### {item.role} #####\n{item.text}" for item in prompt.messages) + "\n"


def test_prompts_are_unchanged_and_have_no_gaps() -> None:
    """Compare all at once: a change of a shared part shows in each."""
    rendered = {name: render(name) for name in CONTEXTS}
    if os.environ.get("UPDATE_GOLDEN") == "1":
        for name, text in rendered.items():
            (GOLDEN / f"{name}.txt").write_text(text, encoding="utf-8")
    assert rendered == {name: (GOLDEN / f"{name}.txt").read_text("utf-8") for name in CONTEXTS}
    assert [name for name, text in rendered.items() if re.search(r"\n{4}|[ \t]\n", text)] == []


def test_each_prompt_has_a_rich_and_a_minimal_golden_file() -> None:
    tools = {path.stem for path in TEMPLATES.glob("[!_]*.md")}
    wanted = {f"{tool}.{kind}" for tool in tools for kind in ("minimal", "rich")}
    assert wanted <= set(CONTEXTS)
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CONTEXTS)
