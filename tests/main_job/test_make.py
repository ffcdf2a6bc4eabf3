"""`greenloop SPEC`: what comes of right, repaired, contradictory and hopeless answers of a model."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import KEY, QUICK, Run, Served
from tests.support.model_responses import (
    DISPUTE,
    GOOD_CODE,
    SPECIFICATION,
    TEST_IS_WRONG,
    WRONG_CODE,
    WRONG_SUITE,
    answers,
    fence,
    write_recording,
)
from tests.support.openai_server import OpenAIServer, Reply


def play(run: Run, text: str, recording: str, *flags: str) -> tuple[int, dict[str, Any]]:
    """Run a specification on recorded answers; return the exit status and the report."""
    words = (text, "--model", recording, "--json", "--quiet", *flags)
    status, out, err = run(*words, **QUICK)
    assert err == ""
    report: dict[str, Any] = json.loads(out)
    return status, report


def test_a_clear_specification_becomes_verified_code_and_tests(run: Run) -> None:
    words = (SPECIFICATION, "--model", write_recording(answers()), "-o", "topk.py")
    status, out, err = run(*words, "--require", "verified")
    assert status == 0, err
    assert "# verified: " in out
    assert "RECORDED" in err
    code, tests = Path("topk.py"), Path("test_topk.py")
    assert code.read_text("utf-8") == GOOD_CODE
    own_pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
    subprocess.run(own_pytest, check=True, stdout=subprocess.DEVNULL)


def test_wrong_code_is_repaired_until_its_tests_pass(run: Run) -> None:
    recorded = answers(generate_code=[fence(WRONG_CODE)], repair_code=[fence(GOOD_CODE)])
    status, report = play(run, SPECIFICATION, write_recording(recorded))
    assert (status, report["verdict"], report["final_code"]) == (0, "passed", GOOD_CODE)
    assert [item["kind"] for item in report["attempts"]] == ["generate", "repair"]
    assert [item["failed"] > 0 for item in report["attempts"]] == [True, False]


def test_a_wrong_test_is_dropped_and_the_right_code_stays(run: Run) -> None:
    recorded = answers(
        generate_tests=[WRONG_SUITE], repair_code=[DISPUTE], judge_test=[TEST_IS_WRONG]
    )
    status, report = play(run, SPECIFICATION, write_recording(recorded))
    dropped = [item for item in report["tests"] if item["outcome"] == "dropped"]
    assert (status, report["verdict"], report["final_code"]) == (0, "passed", GOOD_CODE)
    assert [item["disputed"] for item in dropped] == [True]
    assert "repair" not in [item["kind"] for item in report["attempts"]]


@pytest.mark.usefixtures("examples")
def test_what_the_text_leaves_open_keeps_code_from_verified(run: Run) -> None:
    recording = "replay:examples/traps/unit.jsonl"
    status, report = play(run, "examples/traps/unit.md", recording, "--require", "verified")
    question = "the text leaves open: In which unit and type is the price returned?"
    assert (status, report["verdict"]) == (1, "passed")
    assert any(item.startswith(question) for item in report["reasons"])


def test_hopeless_answers_write_nothing_and_keep_the_best_code(run: Run) -> None:
    hopeless = answers(generate_code=[fence(WRONG_CODE)], repair_code=[fence(WRONG_CODE)])
    with OpenAIServer(Served(hopeless)) as server:
        words = (SPECIFICATION, "-o", "topk.py", "--max-repairs", "1", "--json")
        status, out, _ = run(*words, server=server)
    report = json.loads(out)
    assert (status, report["verdict"]) == (1, "failed")
    assert not Path("topk.py").exists()
    assert "return sorted(xs)[:k]" in Path(report["artifacts"]["best_code"]).read_text("utf-8")


def test_standard_output_is_a_python_module_that_ends_with_the_verdict(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        status, out, err = run(SPECIFICATION, server=server, **QUICK)
    assert status == 0
    compile(out, "output", "exec")
    assert "# passed: 3 of 3 tests pass + 4 of 4 held-out examples" in out
    assert "R1 top_k returns" in err


def test_a_model_with_faults_is_asked_again_and_each_answer_is_counted(run: Run) -> None:
    faults = [Reply(status=429), Reply(status=500), Reply("```json\n{", finish="length")]
    with OpenAIServer(Served(answers(), faults)) as server:
        status, out, _ = run(SPECIFICATION, "--json", server=server, **QUICK)
    report = json.loads(out)
    assert (status, report["tests_passed"], len(server.requests)) == (0, True, 7)
    assert report["usage"]["calls"] == 5  # the answer that was cut off was paid for too


def test_own_tests_are_run_and_never_edited(run: Run) -> None:
    own = "from topk import top_k\n\n\ndef test_mine():\n    assert top_k([4], 1) == [4]\n"
    Path("test_topk.py").write_text(own)
    with OpenAIServer(Served(answers())) as server:
        words = (SPECIFICATION, "--tests", "test_topk.py", "-o", "topk.py", "--json")
        status, out, _ = run(*words, server=server, **QUICK)
    given = [item["id"] for item in json.loads(out)["tests"] if item["origin"] == "given"]
    assert (status, given) == (0, ["test_topk.py::test_mine"])
    assert Path("test_topk.py").read_text() == own


def test_a_budget_that_is_used_up_ends_with_status_5_and_the_best_code(run: Run) -> None:
    dear = Reply("LGTM", usage=(60_000, 10))
    script = answers(generate_code=[fence(WRONG_CODE)], review_code=[dear])
    with OpenAIServer(Served(script)) as server:
        words = (SPECIFICATION, "--max-tokens", "50000", "--json")
        status, out, _ = run(*words, server=server)
    assert (status, len(server.requests)) == (5, 4)
    assert "return sorted(xs)[:k]" in json.loads(out)["final_code"]


def test_a_refused_key_ends_with_status_3_and_is_not_shown(run: Run) -> None:
    refusal = Reply(f"Incorrect API key provided: {KEY}", status=401)
    with OpenAIServer(lambda _request: refusal) as server:
        status, out, err = run(SPECIFICATION, server=server)
    assert (status, out, len(server.requests)) == (3, "", 1)
    assert "the key was refused" in err
    assert KEY not in err


def test_without_a_model_the_ways_to_get_one_are_listed(run: Run) -> None:
    status, _, err = run(SPECIFICATION)
    assert status == 3
    for way in ("--model", "OPENAI_API_KEY", "OPENAI_BASE_URL", "Ollama", "replay:"):
        assert way in err


@pytest.mark.usefixtures("examples")
def test_a_dry_run_names_the_cost_and_calls_nothing(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        status, out, err = run(SPECIFICATION, "--dry-run", server=server)
    assert (status, server.requests) == (0, []), err
    assert "calls" in out
