"""Variables of the prompts for scripts and existing code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from greenloop.prompts.failure_context import ShownFailure
from greenloop.records import OutputCheck
from greenloop.tools.script_toolkit import ScriptTask, ShownInput
from greenloop.workflow.script.inputs import CHANGE_REQUEST_HEADER

BARE = ScriptTask(name="script.py", task="Print the sum of 1 to 10.")
FULL = ScriptTask(
    name="report.py",
    task="\nSum up data/sales.csv by region {{ please }}, into totals.csv.\n\n",
    arguments=("--year", "2026", "a b"),
    stdin="one\ntwo",
    inputs=(
        ShownInput("data/sales.csv", 2048, "Region,Amount\nNorth,12\nSouth,7"),
        ShownInput("logo.png", 9000),
    ),
    checks=(
        OutputCheck(id="exit status 0", kind="status"),
        OutputCheck(id="prints 'Total'", kind="holds", text="Total", origin="generated"),
        OutputCheck(id="totals.csv: 3 rows", kind="rows", file="totals.csv", rows=3),
    ),
)
EXISTING = ScriptTask(name="old.py", inputs=(ShownInput("in.txt", 4, "abc", whole=True),))
CODE = "import csv\n\nprint(rows[0]['region'])\n\n"
FAILURES = (
    ShownFailure(
        test="exit status 0",
        exception="KeyError",
        message="'region' (columns: Region, Amount)",
        lines=("report.py:3 in <module>: print(rows[0]['region'])",),
        output="reading data/sales.csv",
    ),
    ShownFailure(test="prints 'Total'", exception="CheckFailed", message="printed nothing"),
)
TEST_FAILURE = ShownFailure(
    test="tests/test_old.py::test_sum",
    exception="AssertionError",
    message="assert 3 == 4",
    source="def test_sum():\n    assert add(2, 2) == 4\n",
    lines=("old.py:2 in add: return a + 1",),
)
_AROUND: dict[str, Any] = {"python_version": "3.11", "packages": "", "network": ()}
_OPEN: dict[str, Any] = {
    "python_version": "3.11",
    "packages": "numpy, attrs (import attr)",
    "network": ("example.org", "*.example.net:443"),
}
_FIRST: dict[str, Any] = {
    "code": CODE,
    "summary": "0 checks passed, 1 did not.",
    "failures": FAILURES[:1],
    "omitted": 0,
    "history": (),
    "from_the_original": False,
}
_LATER: dict[str, Any] = {
    "code": CODE,
    "summary": "1 check passed, 4 did not.",
    "failures": FAILURES,
    "omitted": 2,
    "history": ("repair (names of columns): 2 failing: prints 'Total'; KeyError: 'region'",),
    "from_the_original": True,
}
SCRIPTS: dict[str, dict[str, Any]] = {
    "propose_checks.minimal": {"script": BARE},
    "propose_checks.rich": {"script": FULL},
    "write_script.minimal": {"script": BARE, "failed_approaches": (), **_AROUND},
    "write_script.rich": {
        "script": FULL,
        "failed_approaches": ("generate: 1 failing: exit status 0; KeyError: 'region'",),
        **_OPEN,
    },
    "repair_script.minimal": {
        "script": EXISTING,
        "keep": True,
        "may_dispute": False,
        "disputable": (),
        "rulings": (),
        **_FIRST,
        **_AROUND,
    },
    "repair_script.rich": {
        "script": FULL,
        "keep": False,
        "may_dispute": True,
        "disputable": ("prints 'Total'", "totals.csv: 3 rows"),
        "rulings": ("prints 'Total' stands: the task quotes it",),
        **_LATER,
        **_OPEN,
    },
    "repair_script.wished": {
        "script": replace(EXISTING, task=f"{CHANGE_REQUEST_HEADER}- Print the sum last.\n"),
        "keep": True,
        "may_dispute": False,
        "disputable": (),
        "rulings": (),
        **_FIRST,
        "summary": "All checks hold. What its owner asks for in the task is not done yet.",
        "failures": (),
        **_AROUND,
    },
    "judge_check.minimal": {"script": BARE, "check": "standard output is empty", "claim": "no"},
    "judge_check.rich": {
        "script": FULL,
        "check": "totals.csv has 3 rows",
        "claim": "there are\ntwo regions",
    },
    "heal_code.minimal": {
        "module": "old",
        "hint": "",
        "wishes": (),
        **_FIRST,
        "failures": (TEST_FAILURE,),
        "python_version": "3.11",
        "packages": "",
    },
    "heal_code.rich": {
        "module": "pkg.old",
        "wishes": ("Name the file in the error.", "No more than {{ ten }} lines."),
        "hint": "@@ -2 +2 @@\n-    return a + 1\n+    return a + b\n",
        **_LATER,
        "failures": (TEST_FAILURE,),
        "python_version": "3.11",
        "packages": "numpy",
    },
}
