"""Evaluation of a script's run."""

from typing import Any

import pytest

from greenloop.prompts.failure_context import failure_signature, summarize_run
from greenloop.records.script_result import (
    ProducedFile,
    ScriptError,
    ScriptFrame,
    ScriptRun,
)
from greenloop.scripts.checks.factories import build_check, complete_checks
from greenloop.scripts.checks.options import parse_expect, parse_expect_file
from greenloop.scripts.evaluator import evaluate_checks
from tests.support.script_runs import build_run, message, one

CRASH = ScriptError(
    exception="KeyError",
    message="'amount'",
    frames=(
        ScriptFrame(file="script.py", line=20, function="<module>", text="main()"),
        ScriptFrame(
            file="script.py",
            line=12,
            function="main",
            text='total += row["amount"]',
            local_values=(("row", "{'Amount': '3'}"), ("token", "***")),
        ),
    ),
)
TRACE = 'note\nTraceback (most recent call last):\n  File "script.py", line 12\nKeyError: 1\n'


def build_crashed_run(**more: Any) -> ScriptRun:
    return build_run("reading\n", exit_status=1, error=CRASH, stderr=TRACE, **more)


@pytest.mark.parametrize(
    "run",
    [
        build_crashed_run(),
        build_run("x", exit_status=3),
        build_run("x", exit_status=None),
        build_run("x", ending="timeout", exit_status=0),
        build_run("x", error=CRASH),
        build_run("x", changed_inputs=("in.csv",)),
        build_run(""),
    ],
)
def test_run_passes_only_with_success_and_all_checks(run: ScriptRun) -> None:
    judged = evaluate_checks(run, complete_checks([], requires_output=True))
    assert not judged.passed
    assert judged.failing_tests
    assert judged.failures
    assert not evaluate_checks(run, []).passed or not run.stdout


def test_exit_status_is_always_evaluated() -> None:
    assert evaluate_checks(build_run(), []).passed
    assert evaluate_checks(build_crashed_run(), []).failing_tests == {"exits with status 0"}


def test_crash_is_one_failure_with_line_and_values() -> None:
    checks = complete_checks(
        [parse_expect("Total"), *parse_expect_file("t.csv:json")], requires_output=True
    )
    run = evaluate_checks(build_crashed_run(), checks)
    (failure,) = run.failures
    assert (failure.test, failure.exception, failure.message) == (
        "exits with status 0",
        "KeyError",
        "'amount'",
    )
    assert [item.line for item in failure.frames] == [20, 12]
    assert "values in main, line 12: row = {'Amount': '3'}, token = ***" in failure.output
    assert "reading" in failure.output
    assert "note" in failure.output
    assert "Traceback" not in failure.output
    assert run.failing_tests == {
        "exits with status 0",
        "prints 'Total'",
        "t.csv: made",
        "t.csv: json",
    }
    assert run.outcomes["prints something"] == "passed"
    assert run.outcomes["prints 'Total'"] == "skipped"


def test_failed_run_skips_silence_and_row_checks() -> None:
    checks = [build_check("silent"), build_check("rows", rows=0)]
    assert evaluate_checks(build_run(exit_status=1), checks).failing_tests >= {
        item.id for item in checks
    }


def test_signature_of_crash_ignores_output() -> None:
    one = evaluate_checks(build_crashed_run(), complete_checks([], requires_output=True))
    other = evaluate_checks(
        build_crashed_run(duration_s=2.0), complete_checks([], requires_output=True)
    )
    assert failure_signature(one) == failure_signature(other)
    assert summarize_run(one) == "1 test passed, 1 did not."


@pytest.mark.parametrize(
    ("run", "exception", "says"),
    [
        (
            build_run(exit_status=2, stderr="usage: x\nx: error: no FILE"),
            "SystemExit",
            "error: no FILE",
        ),
        (build_run("bye", exit_status=1), "SystemExit", "status 1; it said last:\nbye"),
        (build_run(exit_status=4), "SystemExit", "it said nothing"),
        (build_run(exit_status=-11, ending="crashed", detail="SIGSEGV"), "Crash", "SIGSEGV"),
        (build_run(ending="timeout", detail="30 s"), "Timeout", r"at its time limit \(30 s\)"),
        (
            build_run(ending="memory", error=CRASH, limits_hit=("memory",)),
            "MemoryLimit",
            "(?s)limit reached: memory.*KeyError",
        ),
    ],
)
def test_each_ending_has_its_exception(run: ScriptRun, exception: str, says: str) -> None:
    (failure,) = evaluate_checks(run, []).failures
    assert failure.exception == exception
    with pytest.raises(ValueError, match=says):
        raise ValueError(failure.message)


def test_missing_output_is_reported_once() -> None:
    checks = complete_checks([parse_expect("a"), parse_expect("b")], requires_output=True)
    run = evaluate_checks(build_run(" \n", stderr="INFO done\n", made={"x": b"1"}), checks)
    assert message(run).startswith("ran but printed nothing")
    assert "INFO done" in message(run)
    assert "x (1 byte)" in message(run)
    assert len(run.failing_tests) == 3


def test_missing_file_is_reported_once_with_made_files() -> None:
    run = evaluate_checks(
        build_run("x", {"out/total.csv": b"a"}), parse_expect_file("totals.csv:rows=1:csv=a")
    )
    assert message(run) == (
        "totals.csv was not made; the script made: out/total.csv (1 byte)"
    ) or "out/total.csv is close to it" in message(run)
    assert len(run.failing_tests) == 3


def test_changed_inputs_are_reported() -> None:
    assert "in.csv" in message(evaluate_checks(build_run("x", changed_inputs=("in.csv",)), []))


@pytest.mark.parametrize(
    ("stdout", "wish", "says"),
    [
        ("total: 3", "Total", "line 1 differs only in case"),
        ("a  b", "a b", "differs only in spaces"),
        ("Totl: 3", "Total: 3", "nearest line is 'Totl: 3'"),
        ("x\n" * 30, "Total", "30 lines"),
        ("x 1\n", r"/^\d/", "no match of"),
    ],
)
def test_missing_text_shows_the_output(stdout: str, wish: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        raise ValueError(one(build_run(stdout), wish))


@pytest.mark.parametrize(
    ("content", "wish", "says"),
    [
        (b"", "@f.csv:non-empty", "f.csv is empty"),
        (b"a,b\n1,2\n", "@f.csv:rows=2", "1 data row, expected 2\ncolumns: a, b; 1 row"),
        (b"a\n\nb\n", "@f.csv:rows=2", "expected 2"),
        (b"Amount,region\n1,2\n", "@f.csv:csv=amount", "'Amount' is near to 'amount'"),
        (b"a;b\n1;2\n", "@f.csv:csv=a,b", "a semicolon between"),
        (b"a,b\n1\n2,3\n4,5,6\n", "@f.csv:csv=a,b", "line 2 has 1 field, the header 2: 1"),
        (b'a,b\n"1,2\n', "@f.csv:csv=a,b", "not valid CSV: line 2"),
        (b"", "@f.csv:csv=a,b", "not valid CSV: it is empty"),
        (b"{'a': 1}", "@f.csv:json", r"not JSON: Expecting property name"),
        (b"[NaN]", "@f.csv:json", "NaN is not a JSON value"),
        (b"[" * 100_000, "@f.csv:json", "nested too deep"),
        (b"caf\xe9", "@f.csv:json", "not UTF-8 text: .* at byte 3"),
    ],
)
def test_violated_file_check_shows_the_content(content: bytes, wish: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        raise ValueError(one(build_run("x", {"f.csv": content}), wish))


@pytest.mark.parametrize(
    ("content", "wish"),
    [
        (b"a\n\nb", "@f.txt:rows=3"),
        (b"", "@f.txt:rows=0"),
        (b"a\n", "@f.csv:rows=0"),
        (b'a,b\n"x\ny",2\n\n', "@f.csv:rows=1:csv=b,a"),
        (b"a\tb\n1\t2\n", "@f.tsv:csv=a,b"),
        ("a,b\nx\x0by\u2028z,2\n".encode(), "@f.csv:csv=a,b:rows=1"),
        (b"{}", "@f.json:json:non-empty"),
    ],
)
def test_file_check_holds(content: bytes, wish: str) -> None:
    assert one(build_run("x", {wish[1:].split(":")[0]: content}), wish) == ""


def test_unavailable_content_fails() -> None:
    run = build_run("x").model_copy(update={"made": (ProducedFile(path="big", size=10**9),)})
    assert "too large" in one(run, "@big:json")
    assert one(run, "@big:non-empty") == ""


def test_standard_output_may_be_a_table_or_json() -> None:
    assert evaluate_checks(
        build_run("a,b\n1,2\n"), [build_check("columns", columns=["a", "b"])]
    ).passed
    assert not evaluate_checks(
        build_run("a,b\n1\n"), [build_check("columns", columns=["a", "b"])]
    ).passed
    assert evaluate_checks(build_run('{"a": 1}\n'), [build_check("json")]).passed
    assert evaluate_checks(build_run(), [build_check("silent")]).passed
    assert "should have been printed" in message(
        evaluate_checks(build_run("a"), [build_check("silent")])
    )


def test_truncated_output_is_marked() -> None:
    assert "cut out" in one(build_run("a", stdout_cut=True), "b")
