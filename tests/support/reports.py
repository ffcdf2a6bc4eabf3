"""Reports for tests: of each command and ending, of an older schema, and with hostile content."""

import json
from typing import Any

from greenloop.records import (
    Artifacts,
    Assertion,
    Attempt,
    Choice,
    Contract,
    Coverage,
    Difference,
    DisputeEntry,
    EmptyBodies,
    Environment,
    Evidence,
    Failure,
    Finding,
    Frame,
    IntegrityFinding,
    MutantResult,
    Mutation,
    Peer,
    Report,
    Requirement,
    SandboxInfo,
    Survivor,
    TestEntry,
    Timings,
    ToolUsage,
    Usage,
)
from tests.support.model_responses import (
    BETTER_CODE,
    GOOD_CODE,
    GOOD_TESTS,
    INTERFACE,
    QUOTES,
    SPECIFICATION,
)

# Text of a model or a test that tries to break out of the place where it is shown.
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)> ]]> --> </style></title>"
    "\x1b[31mred\x07\x00\x9b2J \u202etxet\u2066 \u2028 \ufffe \U000e0041"
    " `x` ``` | [l](https://evil.example) ![i](http://evil.example/i.png) @someone #1"
    " <details> <!-- {{ 7 * 7 }} {% raw %} & &amp; \" ' javascript:alert(3)"
)
ADDED = {
    "report": ("command", "module", "failures", "disputes"),
    "attempts": ("based_on", "remark", "code", "outcomes", "failures", "ending", "detail"),
}


def failure(test: str = "test_topk.py::test_negative", text: str = "DID NOT RAISE") -> Failure:
    """Return a failed assertion with its location and its values."""
    return Failure(
        test=test,
        phase="call",
        exception="Failed",
        message=text,
        frames=(Frame(file="test_topk.py", line=19, function="test_negative", text=text),),
        output=text,
        assertion=Assertion(operator="==", left=text, right="[3, 2]"),
    )


def build_make_report(text: str = "", **changes: Any) -> Report:
    """Return a run with a repair, a dropped test and a survivor; `text` is in every untrusted field."""
    said = text or "as it should be"
    values: dict[str, Any] = {
        "specification": text or SPECIFICATION,
        "final_code": GOOD_CODE + (f"# {text}\n" if text else ""),
        "test_code": GOOD_TESTS + text,
        "tests_passed": True,
        "test_output": f"3 passed {text}",
        "iterations": 2,
        "repairs": 1,
        "verdict": "passed",
        "reasons": (f"mutants: 50%, at least 80% {text}",),
        "contract": _contract(said),
        "tests": _tests(text),
        "review": (
            Finding(line=3, severity="error", message=said, resolved=True),
            Finding(line=None, severity="style", message=said),
        ),
        "attempts": _attempts(said),
        "evidence": _evidence(said),
        "usage": Usage(
            calls=4,
            input_tokens=4000,
            output_tokens=600,
            by_tool={"repair_code": ToolUsage(calls=1, input_tokens=4000, output_tokens=600)},
        ),
        "timings": Timings(
            started_at="2026-01-02T03:04:05+00:00", total_s=12.5, model_s=9, sandbox_s=1
        ),
        "environment": Environment(
            greenloop="0.1.0",
            python="3.12.1",
            model=text or "openai:some-model",
            sandbox=SandboxInfo(backend="native", isolation="strong"),
            packages={"pytest": "9.0"},
        ),
        "artifacts": Artifacts(run_dir="runs/one", report="runs/one/report.json"),
        "command": "make",
        "module": "topk",
        "disputes": (
            DisputeEntry(
                test="test_wrong", why=said, wrong="test", because=said, source=said, attempt=1
            ),
        ),
    }
    return Report(**{**values, **changes})


def _contract(said: str) -> Contract:
    return Contract(
        module="topk",
        summary=said,
        interface=INTERFACE,
        requirements=(
            Requirement(id="R1", text="the k largest numbers, largest first", quotes=QUOTES[:1]),
            Requirement(id="R2", text=said, quotes=(said,)),
        ),
        unquoted=QUOTES[1:],
        assumptions=(said,),
        choices=(
            Choice(id="C1", question=said, quote=said, answers=(said, "f(1) -> 2"), chosen=said),
        ),
    )


def _tests(text: str) -> tuple[TestEntry, ...]:
    return (
        TestEntry(
            id="test_topk.py::test_largest_first",
            requirements=("R1",),
            origin="generated",
            outcome="passed",
            duration_s=0.0015,
        ),
        TestEntry(
            id=f"test_topk.py::TestK::test_negative[{text or '-1'}]",
            requirements=("R1", "R2"),
            origin="given",
            outcome="passed",
        ),
        TestEntry(
            id="test_topk.py::test_wrong",
            requirements=("R1",),
            origin="generated",
            outcome="dropped",
            disputed=True,
            judgement=text or "contradicts R1",
        ),
    )


def _attempts(said: str) -> tuple[Attempt, ...]:
    first = Attempt(
        n=1,
        kind="generate",
        passed=1,
        failed=1,
        errors=0,
        code_sha256="0" * 64,
        seconds=3,
        tokens=900,
        remark=said,
        code=BETTER_CODE,
        outcomes={
            "test_topk.py::test_largest_first": "passed",
            "test_topk.py::test_wrong": "failed",
        },
        failures=(failure(text=said),),
        ending="finished",
    )
    changes = {"n": 2, "kind": "repair", "passed": 2, "failed": 0, "based_on": 1, "failures": ()}
    outcomes = {"test_topk.py::test_largest_first": "passed"}
    return (first, first.model_copy(update={**changes, "code": GOOD_CODE, "outcomes": outcomes}))


def _evidence(said: str) -> Evidence:
    survivor = Survivor(
        id="3:boundary",
        line=3,
        function="top_k",
        operator="boundary",
        diff=(
            "--- a\n+++ b\n@@ -2,3 +2,3 @@\n def top_k(xs, k):\n"
            f"-    if k < 0:\n+    if k <= 0: {said}\n         raise ValueError"
        ),
        reached=True,
        before="k < 0",
        after=f"k <= 0  # {said}".rstrip("# "),
    )
    tried = MutantResult(
        id="5:slice", line=5, operator="slice", before=":k", after=":", outcome="killed"
    )
    differences = (
        Difference(
            call="top_k([1], -1)",
            code=f"[1] {said}",
            peer="raises ValueError",
            ruling="code is wrong",
            because=said,
            test="test_peer_input_1",
        ),
        Difference(call=f"top_k([True], 1) {said}", code="[True]", peer="[1]"),
    )
    return Evidence(
        read_against_text=True,
        peer=Peer(inputs=320, allowed=300, agreed=298, differences=differences),
        empty_bodies=EmptyBodies(reached=True, passed=0, failed=2),
        mutation=Mutation(score=0.5, killed=1, survived=(survivor,), tried=(tried,)),
        coverage=Coverage(
            line=0.75,
            branch=0.5,
            missed_lines=(4,),
            missed_branches=("3->4", "5->exit"),
            statements=(1, 3, 4, 5),
        ),
        integrity=(IntegrityFinding(line=5, what=said),),
    )


def build_check_report() -> Report:
    """Return a check whose tests fail: no model, contract, attempts or grade."""
    entry = TestEntry(id="test_topk.py::test_negative", origin="given", outcome="failed")
    return build_make_report(
        specification="",
        verdict="failed",
        tests_passed=False,
        reasons=("1 tests do not pass: test_topk.py::test_negative",),
        contract=None,
        tests=(entry,),
        review=(),
        attempts=(),
        evidence=Evidence(),
        usage=Usage(cost_usd=0.0),
        command="check",
        failures=(failure(),),
        disputes=(),
    )


def build_refused_report() -> Report:
    """Return a run that could not start: nothing but the reason."""
    return build_make_report(
        final_code="",
        test_code="",
        test_output="",
        tests_passed=False,
        verdict="failed",
        reasons=("SettingsError: GREENLOOP_REQUIRE: not one of verified, passed",),
        contract=None,
        tests=(),
        review=(),
        attempts=(),
        evidence=Evidence(),
        usage=Usage(),
        timings=Timings(),
        module="",
        disputes=(),
    )


def older() -> Report:
    """Return the same run as an older version wrote it, without the keys that were added later."""
    told = json.loads(build_make_report().model_dump_json())
    for key in ADDED["report"]:
        del told[key]
    for attempt in told["attempts"]:
        for key in ADDED["attempts"]:
            del attempt[key]
    del told["timings"]["started_at"], told["artifacts"]["html"], told["artifacts"]["code"]
    del told["evidence"]["mutation"]["tried"], told["evidence"]["coverage"]["statements"]
    return Report.model_validate(told)


def huge() -> Report:
    """Return a report of 10,000 tests, one of which fails, with lines and messages of a megabyte."""
    tests = [
        TestEntry(id=f"test_m.py::test_{n}", requirements=("R1",), origin="given", outcome="passed")
        for n in range(10_000)
    ]
    tests[9_000] = tests[9_000].model_copy(update={"outcome": "failed"})
    long = "x" * 1_000_000
    return build_make_report(tests=tuple(tests), final_code=f"x = '{long}'\n" * 2, reasons=(long,))


def all_kinds() -> dict[str, Report]:
    """Return every kind of report that the output formats must support."""
    return {
        "made": build_make_report(),
        "hostile": build_make_report(HOSTILE),
        "checked": build_check_report(),
        "refused": build_refused_report(),
        "older": older(),
        "huge": huge(),
    }
