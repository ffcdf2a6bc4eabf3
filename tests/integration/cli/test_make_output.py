"""Files of `make -o`: their lock, the protection of others' files; and `--dry-run`."""

import json
from pathlib import Path

import pytest

from greenloop.cli import run_agent
from tests.integration.cli.conftest import Run, Served
from tests.support.model_responses import SPECIFICATION, answers
from tests.support.openai_server import OpenAIServer

MINE = "# mine\n"
MAKE = ("make", "spec.md", "-o", "topk.py", "--mutants", "0", "--no-peer")


@pytest.fixture(autouse=True)
def specification() -> None:
    Path("spec.md").write_text(SPECIFICATION)


def test_a_file_of_the_user_is_not_written_over(run: Run) -> None:
    Path("test_topk.py").write_text(MINE)
    with OpenAIServer(Served(answers())) as server:
        status, _, err = run(*MAKE, server=server)
        assert server.requests == []
    assert (status, Path("test_topk.py").read_text()) == (2, MINE)
    assert err == (
        "greenloop: test_topk.py was not written by greenloop; "
        "--force overwrites it and keeps a copy\n"
    )
    assert not Path(".greenloop").exists()


def test_a_lock_lies_beside_the_output_and_names_edited_files(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        status, _, err = run(*MAKE, server=server)
    assert status == 0, err
    lock = json.loads(Path("topk.greenloop.json").read_text())
    assert lock["specification"]["path"] == "spec.md"
    with OpenAIServer(Served(answers())) as server:  # what greenloop wrote may be replaced
        assert run(*MAKE, server=server)[0] == 0
    edited = Path("topk.py").read_text() + MINE
    Path("topk.py").write_text(edited)
    with OpenAIServer(Served(answers())) as server:
        status, _, err = run(*MAKE, server=server)
        assert (status, server.requests) == (2, [])
        assert "topk.py was edited since it was graded; --force" in err
        status, _, _ = run(*MAKE, "--force", "--run-dir", "forced", server=server)
    assert status == 0
    assert Path("forced/original/topk.py").read_text() == edited
    assert MINE not in Path("topk.py").read_text()


def test_the_estimate_calls_no_model(run: Run) -> None:
    status, out, err = run("make", SPECIFICATION, "--dry-run", "--model", "openai:gpt-5.4")
    assert (status, err) == (0, "")
    assert out.startswith("5 to 10 calls, about ")
    assert out.endswith(" without repairs\n")
    assert "cost unknown" not in out
    dry = ("--dry-run", "--json", "--model", "openai:gpt-5.4")
    short, longer = (json.loads(run("make", SPECIFICATION * n, *dry)[1]) for n in (1, 9))
    assert longer["tokens"] > 3 * short["tokens"]
    assert short["cost_usd"] < longer["cost_usd"]
    assert run("make", SPECIFICATION, "--dry-run")[1].endswith(", cost unknown without a model\n")
    with_key = run("make", SPECIFICATION, "--dry-run", OPENAI_API_KEY="sk-0")[1]
    assert with_key.endswith(" without repairs\n")
    assert not Path(".greenloop").exists()


def test_at_a_terminal_it_is_asked_before_a_call_is_paid(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(run_agent, "is_terminal", lambda: True)
    monkeypatch.setattr(run_agent, "confirm", asked.append)  # None: declined
    Path("topk.py").write_text(MINE)
    with OpenAIServer(Served(answers())) as server:
        status, _, _ = run(*MAKE, server=server)
        assert (status, server.requests) == (2, [])
    assert asked == ["topk.py was not written by greenloop; overwrite it (a copy is kept)? [y/N] "]
    assert Path("topk.py").read_text() == MINE
