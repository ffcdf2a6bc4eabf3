"""Runs of scripts, for tests of what is said of them."""

from typing import Any

from greenloop.records import TestRun
from greenloop.records.script_result import ProducedFile, ScriptRun
from greenloop.scripts.checks.options import parse_expect, parse_expect_file
from greenloop.scripts.evaluator import evaluate_checks


def build_run(stdout: str = "", made: dict[str, bytes] | None = None, **more: Any) -> ScriptRun:
    files = tuple(
        ProducedFile(path=path, size=len(content), content=content)
        for path, content in (made or {}).items()
    )
    return ScriptRun(**{"ending": "finished", "exit_status": 0} | more, stdout=stdout, made=files)


def message(run: TestRun) -> str:
    (failure,) = run.failures
    return failure.message


def one(run: ScriptRun, text: str) -> str:
    """What a single wish for a file or a text has to say of a run; "" where it is fulfilled."""
    checks = parse_expect_file(text[1:]) if text.startswith("@") else (parse_expect(text),)
    judged = evaluate_checks(run, checks)
    assert judged.passed is not bool(judged.failures)
    return "\n".join(item.message for item in judged.failures)
