"""Evaluation of a script's run."""

from pathlib import Path

import pytest

from greenloop.scripts.checks.factories import complete_checks
from greenloop.scripts.checks.options import load_schema, parse_expect, parse_expect_file
from greenloop.scripts.evaluator import evaluate_checks
from tests.support.script_runs import build_run, message, one


def test_run_that_meets_all_checks_passes() -> None:
    wanted = [
        parse_expect("Total: 3"),
        parse_expect("/^north,/"),
        *parse_expect_file("t.csv:rows=2:csv=region,total:non-empty"),
        *parse_expect_file("out/x.json:json"),
    ]
    files = {"t.csv": b"\xef\xbb\xbfregion,total,x\r\nn,1,\r\ns,2,\r\n", "out/x.json": b"[1]"}
    run = evaluate_checks(
        build_run("head\nnorth,1\nTotal: 3\n", files), complete_checks(wanted, requires_output=True)
    )
    assert run.passed
    assert run.passed_count == len(run.tests) == 9
    assert run.failing_tests == frozenset()


def test_output_is_validated_by_schema(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(
        '{"type": "array", "items": {"required": ["n"], "properties": {"n": {"type": "integer"}}}}'
    )
    check = load_schema(path)
    assert evaluate_checks(build_run('[{"n": 1}]'), [check]).passed
    told = message(evaluate_checks(build_run('[{"n": 1}, {"n": "2"}, {}]'), [check]))
    assert "$[1].n: '2' is not of type 'integer'" in told
    assert "$[2]: 'n' is a required property" in told
    assert "not JSON" in message(evaluate_checks(build_run("n"), [check]))


def test_schema_references_are_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"$ref": "http://127.0.0.1:9/x.json"}')
    assert "refers to what it does not hold" in message(
        evaluate_checks(build_run("1"), [load_schema(path)])
    )


def test_slow_pattern_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("greenloop.scripts.checks.subprocess_query._MATCH_TIMEOUT_SECONDS", 0.5)
    assert "took too long" in one(build_run("a" * 60 + "b"), "/(a+)+$/")


def test_huge_pattern_is_cheap() -> None:
    assert "no match" in one(build_run("a" * 99), "/(((a{1000}){1000}){1000})/")
