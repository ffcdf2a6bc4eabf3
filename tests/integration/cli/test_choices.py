"""Open choices from the command line: `choices.md`, `--answers`, `--accept-choices`, locks."""

import json
from pathlib import Path

from tests.integration.cli.conftest import Run, Served
from tests.support.model_responses import (
    GOOD_CODE,
    SPECIFICATION,
    answers,
    contract_answer,
    fence,
)
from tests.support.openai_server import OpenAIServer

QUICK = {
    "GREENLOOP_MUTANTS": "0",
    "GREENLOOP_HARDENING_ROUNDS": "0",
    "GREENLOOP_PEER": "false",
}
CHOICE = {
    "question": "What if there are fewer than k numbers?",
    "quote": "the k largest numbers",
    "answers": ["top_k([2, 1], 5) -> [2, 1]", "top_k([2, 1], 5) raises ValueError"],
    "chosen": "top_k([2, 1], 5) -> [2, 1]",
}
STRICT_CODE = GOOD_CODE.replace("if k < 0:", "if k < 0 or k > len(xs):")
REPAIR = f"DISPUTE test_more_than_there_are: the user wants an error\n\n{fence(STRICT_CODE)}"
LATER = {
    "repair_code": [REPAIR],
    "judge_test": [fence('{"wrong": "test", "because": "R3 demands an error"}', "json")],
}
CHOICES = Path("run/choices.md")


def serve(**more: list[str]) -> OpenAIServer:
    return OpenAIServer(
        Served({**answers(parse_specification=[contract_answer(choices=[CHOICE])]), **more})
    )


def fill_in(old: str, new: str, path: Path = CHOICES) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_choices_are_filled_in_and_given_back(run: Run) -> None:
    with serve(**LATER) as server:
        status, _, err = run(SPECIFICATION, "--run-dir", "run", server=server, **QUICK)
        assert status == 0
        assert "open: What if there are fewer" in err
        paid = len(server.requests)
        fill_in("- [ ] 2:", "- [x] 2:")
        status, out, _ = run("resume", "run", "--answers", str(CHOICES), "--json")
        assert len(server.requests) == paid + 4  # contract, tests, repair, review
    assert status == 0
    report = json.loads(out)
    assert report["final_code"] == STRICT_CODE
    (choice,) = report["contract"]["choices"]
    assert (choice["answered"], choice["chosen"]) == ("user", CHOICE["answers"][1])
    assert [item["origin"] for item in report["tests"]].count("answer") == 1
    assert report["artifacts"]["choices"] is None
    assert Path("run/choices.previous.md").exists()


def test_choices_are_accepted(run: Run) -> None:
    with serve() as server:
        _, out, _ = run(SPECIFICATION, "--run-dir", "run", "--json", server=server, **QUICK)
        assert any("leaves open" in item for item in json.loads(out)["reasons"])
        paid = len(server.requests)
        status, out, _ = run("resume", "run", "--accept-choices", "--json")
        assert len(server.requests) == paid
    report = json.loads(out)
    assert status == 0
    assert report["contract"]["choices"][0]["answered"] == "accepted"
    assert not any("leaves open" in item for item in report["reasons"])


UNCLEAR = [
    ("## C1", "## C7", "no open choice is named 'C7'"),
    ("- [ ] 1", "- [x] other: cents\n- [ ] 1", "other: is neither an example"),
    ("- [ ] 1", "- [ ] 1", "C1 has no answer"),
    ("What if", "What when", "the question of C1 was a different one"),
]


def test_an_unclear_file_is_refused_by_line_and_nothing_is_lost(run: Run) -> None:
    with serve() as server:
        run(SPECIFICATION, "--run-dir", "run", server=server, **QUICK)
        asked = CHOICES.read_text()
        for old, new, why in UNCLEAR:
            CHOICES.write_text(asked)
            fill_in(old, new)
            kept = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
            status, _, err = run("resume", "run", "--answers", str(CHOICES))
            assert status == 2
            (line,) = [item for item in err.splitlines() if item.startswith("greenloop: ")]
            assert line.startswith(f"greenloop: {CHOICES}:")
            assert why in line
            assert {path: path.read_bytes() for path in kept} == kept
        status, _, err = run("resume", "run", "--answers", "nowhere.md")
    assert status == 2
    assert "--answers nowhere.md" in err


def test_answers_that_answer_nothing_are_left_out(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        run(SPECIFICATION, "--run-dir", "run", server=server, **QUICK)
        assert not CHOICES.exists()
        CHOICES.write_text("## C1\n- [x] 1: nothing\n")
        status, _, err = run("resume", "run", "--answers", str(CHOICES))
        assert (status, len(server.requests)) == (0, 4)
    assert f"--answers {CHOICES} is ignored: the text leaves no question open" in err
    with OpenAIServer(Served(answers())) as server:
        status, _, err = run("resume", "run", "--accept-choices", server=server)
    assert status == 0
    assert "--accept-choices is ignored" in err


def test_a_lock_names_the_choices_of_its_text(run: Run) -> None:
    Path("specs").mkdir()
    Path("specs/topk.md").write_text(SPECIFICATION)
    with serve() as server:
        status, _, _ = run("batch", "specs", "-o", "src", "--run-dir", "b", server=server, **QUICK)
    assert status == 0
    assert "1 open choice<" in Path("b/index.html").read_text()
    lock = json.loads(Path("src/topk.greenloop.json").read_text())
    assert [item["question"] for item in lock["choices"]] == [CHOICE["question"]]
    status, out, _ = run("verify", "src", "--digests-only")
    assert (status, out.strip().endswith("digests only, 1 open choice")) == (0, True)
    (filled,) = Path("b/runs").glob("*/choices.md")
    fill_in("- [ ] 1:", "- [x] 1:", filled)
    call = ("specs/topk.md", "-o", "src/topk.py", "--answers", str(filled), "--json")
    with serve() as server:
        status, out, _ = run(*call, server=server, **QUICK)
    report = json.loads(out)
    assert status == 0
    assert report["contract"]["choices"][0]["answered"] == "user"
    assert [item["origin"] for item in report["tests"]].count("answer") == 1


def test_a_new_run_accepts_what_is_taken(run: Run) -> None:
    with serve() as server:
        status, out, _ = run(
            SPECIFICATION, "--accept-choices", "--run-dir", "run", "--json", server=server, **QUICK
        )
    choice = json.loads(out)["contract"]["choices"][0]
    assert (status, choice["answered"], choice["unread"]) == (0, "accepted", True)


def test_answers_of_a_new_run_stand_behind_its_text(run: Run) -> None:
    Path("filled.md").write_text(
        "# Open\n\n## C1\n\n> text\n\nAll?\n\n- [ ] 1: a\n- [x] other: `f(1)`\n"
    )
    with serve() as server:
        status, out, _ = run(
            SPECIFICATION,
            "--answers",
            "filled.md",
            "--run-dir",
            "r",
            "--json",
            server=server,
            **QUICK,
        )
    text = json.loads(out)["specification"]
    assert (status, text.endswith("The author's answers:\n- All? `f(1)`\n")) == (0, True)
    Path("filled.md").write_text("## C1\n\nAll?\n\n- [ ] 1: a\n")
    status, _, err = run(SPECIFICATION, "--answers", "filled.md")
    assert (status, "C1 needs its question and one marked answer" in err) == (2, True)


def test_asking_needs_a_terminal(run: Run) -> None:
    status, _, err = run(SPECIFICATION, "--ask", "terminal")
    assert status == 2
    assert "--ask terminal needs a terminal" in err
