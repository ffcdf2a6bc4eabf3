"""`check --spec`: existing code and tests, read a second time against a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.cli.conftest import Served
from tests.integration.workflow.test_compare_peer import is_error, judge
from tests.support.model_responses import (
    BETTER_CODE,
    GOOD_CODE,
    GOOD_TESTS,
    SPECIFICATION,
    WRONG_CODE,
    answers,
)
from tests.support.openai_server import OpenAIServer, tool_of

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Run

# They agree with BETTER_CODE, which overlooks half of the text.
BLIND_TESTS = GOOD_TESTS.partition("\n\ndef test_negative")[0]
MODEL = ("--model", "openai:x")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("test_topk.py").write_text(GOOD_TESTS)
    Path("topk.py").write_text(GOOD_CODE)


class Judging(Served):
    """Judges by the text: a negative k is an error."""

    def __call__(self, request: dict[str, Any]) -> Any:
        if tool_of(request) == "judge_difference":
            self._by_tool["judge_difference"] = [
                judge(is_error)(str(request["messages"][-1]["content"]))
            ]
        return super().__call__(request)


def check(
    run: Run, *options: str, spec: str = SPECIFICATION, **scripted: list[Any]
) -> tuple[int, Any, list[str]]:
    words = ("check", "topk.py", "test_topk.py", "--spec", spec, *MODEL, "--mutants", "0")
    with OpenAIServer(Judging(answers(**scripted))) as server:
        status, out, _ = run(*words, *options, "--json", server=server)
        return status, json.loads(out), [tool_of(item) for item in server.requests]


def test_right_code_agrees_with_a_second_reading(run: Run) -> None:
    status, report, tools = check(run)
    assert status == 1
    assert tools == ["parse_specification", "generate_tests", "write_peer"]
    assert report["evidence"]["read_against_text"]
    assert report["evidence"]["peer"]["allowed"] >= 50
    assert report["evidence"]["held_out"]["agreed"] == 4
    assert {item["origin"] for item in report["tests"]} == {"given", "held_out"}
    assert [item.partition(":")[0] for item in report["reasons"]] == ["mutants"]
    assert report["final_code"] == GOOD_CODE
    assert report["usage"]["calls"] == 3


def test_code_that_agrees_with_its_tests_and_not_with_the_text_is_noticed(run: Run) -> None:
    Path("test_topk.py").write_text(BLIND_TESTS)
    Path("topk.py").write_text(BETTER_CODE)
    status, report, tools = check(run, "--require", "verified")
    assert status == 1
    assert tools[-1] == "judge_difference"
    assert report["verdict"] == "passed"
    assert any("the text contradicts the code on" in item for item in report["reasons"])
    assert {item["ruling"] for item in report["evidence"]["peer"]["differences"]} == {
        "code is wrong"
    }
    assert report["test_code"].strip() == BLIND_TESTS.strip()


def test_model_without_a_contract_leaves_the_text_and_the_code(run: Run) -> None:
    status, report, tools = check(run, parse_specification=["I would begin.", "Sure!"])
    assert (status, report["verdict"], report["road"]) == (1, "passed", "plain")
    assert tools == ["parse_specification"] * 2 + ["generate_tests", "write_peer"]
    assert report["contract"]["interface"].startswith("def top_k(")


def test_code_that_fails_its_tests_costs_no_call(run: Run) -> None:
    Path("topk.py").write_text(WRONG_CODE)
    status, report, tools = check(run)
    assert (status, report["verdict"], tools) == (1, "failed", [])


def test_an_example_of_the_text_counts_as_a_test(run: Run) -> None:
    Path("test_topk.py").write_text(BLIND_TESTS)
    Path("topk.py").write_text(
        BETTER_CODE.replace("reverse=True", "reverse=bool(xs[:2] != [7, 8])")
    )
    status, report, _ = check(run, spec=f"{SPECIFICATION}\n\n>>> top_k([7, 8], 1)\n[8]\n")
    assert (status, report["verdict"]) == (1, "failed")


def test_no_peer_leaves_it_out(run: Run) -> None:
    _, report, tools = check(run, "--no-peer")
    assert "write_peer" not in tools
    assert any(
        "no second implementation was compared: --no-peer" in item for item in report["reasons"]
    )


def test_a_check_against_a_text_is_resumed(run: Run) -> None:
    _, first, _ = check(run, "--run-dir", "run")
    with OpenAIServer(Served(answers())) as server:
        status, out, err = run("resume", "run", "--json", server=server)
        assert server.requests == []
    assert status == 1, err
    assert json.loads(out)["evidence"]["peer"] == first["evidence"]["peer"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--spec", SPECIFICATION), "--spec needs a model"),
        (("--spec", "absent.md", *MODEL), "absent.md does not exist"),
        (("--spec", " ", *MODEL), "empty"),
        (MODEL, "only for --spec"),
    ],
)
def test_bad_input_is_status_2(run: Run, words: tuple[str, ...], text: str) -> None:
    status, _, err = run("check", "topk.py", "test_topk.py", *words)
    assert status == 2
    assert text in err


def test_without_a_text_the_check_says_so(run: Run) -> None:
    status, out, _ = run("check", "topk.py", "test_topk.py", "--mutants", "0")
    assert status == 1
    assert "no text was given" in out
