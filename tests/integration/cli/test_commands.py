"""The command line in this process, against a local server that speaks OpenAI's API."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from greenloop.errors import OutputError
from greenloop.workflow.kinds import load_request
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.integration.cli.conftest import KEY, Run, Served
from tests.support.model_responses import (
    SPECIFICATION,
    WRONG_CODE,
    answers,
    contract_answer,
    fence,
)
from tests.support.openai_server import OpenAIServer, Reply, tool_of
from tests.support.programs import read_table
from tests.support.wheels import only_wheels_of, wheel


def the_report(folder: Path = Path(".greenloop")) -> dict[str, Any]:
    """The only report below the runs' home."""
    (path,) = (folder / "runs").glob("*/report.json")
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def test_no_network(run: Run) -> None:
    status, _, err = run(
        SPECIFICATION,
        OPENAI_BASE_URL="http://127.0.0.1:9/v1",
        OPENAI_API_KEY=KEY,
        GREENLOOP_MODEL_ATTEMPTS="2",
    )
    assert status == 3
    assert "not reachable" in err
    assert "; `greenloop resume` continues then" in err
    assert err.count("\nretry ") == 1
    assert the_report()["reasons"][0].startswith("ended early: openai-compatible:")


def test_budget_of_one_token_asks_nothing(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        status, _, err = run(SPECIFICATION, "--max-tokens", "1", server=server)
    assert (status, server.requests) == (5, [])
    assert "--max-tokens); `greenloop resume` with a higher limit continues" in err
    assert the_report()["usage"]["calls"] == 0


@pytest.mark.parametrize(("spec", "said"), read_table(__file__, "UNUSABLE"))
def test_unusable_specification(run: Run, spec: str, said: str) -> None:
    Path("folder").mkdir()
    Path("binary.md").write_bytes(b"\xff\xfe\x00")
    Path("empty.md").write_text("\n")
    status, out, err = run(spec)
    assert (status, out) == (2, "")
    assert said in err
    assert len([line for line in err.splitlines() if line.startswith("greenloop: ")]) == 1
    assert not Path(".greenloop").exists()


@pytest.mark.parametrize(
    "output", ["file.txt/x.py", "/proc/x.py", "folder.py", "json.py", "test_x.py", "x.txt"]
)
def test_unusable_output_is_known_before_anything_is_paid_for(run: Run, output: str) -> None:
    Path("file.txt").write_text("a file")
    Path("folder.py").mkdir()
    with OpenAIServer(Served(answers())) as server:
        status, _, err = run(SPECIFICATION, "-o", output, server=server)
    assert (status, server.requests) == (2, [])
    assert "--output" in err
    assert not Path(".greenloop").exists()


@pytest.mark.parametrize("flags", read_table(__file__, "OVERWRITING"))
def test_nothing_is_written_over_an_input_or_another_result(run: Run, flags: list[str]) -> None:
    mine = "from topk import top_k\n\n\ndef test_mine():\n    assert top_k([4], 1) == [4]\n"
    Path("test_mine.py").write_text(mine)
    Path("spec.md").write_text(SPECIFICATION)
    with OpenAIServer(Served(answers())) as server:
        status, _, err = run("spec.md", *flags, server=server)
    assert (status, server.requests) == (2, [])
    assert "would overwrite" in err
    assert Path("test_mine.py").read_text() == mine
    assert Path("spec.md").read_text() == SPECIFICATION


@pytest.mark.slow
def test_a_given_file_of_any_name_is_run(run: Run) -> None:
    Path("checks.py").write_text(
        "from topk import top_k\n\n\ndef test_mine():\n    assert top_k([4], 1) == [4]\n"
    )
    with OpenAIServer(Served(answers())) as server:
        status, out, _ = run(SPECIFICATION, "--tests", "checks.py", "--json", server=server)
    report = json.loads(out)
    assert status == 0
    assert "test_checks.py::test_mine" in [item["id"] for item in report["tests"]]
    final = report["final_code"].encode()
    assert report["attempts"][-1]["code_sha256"] == hashlib.sha256(final).hexdigest()


@pytest.mark.slow
def test_a_key_of_any_form_is_hidden(run: Run) -> None:
    key = "correcthorsebatterystaple"
    refusal = Reply(f"Incorrect API key provided: {key}", status=401)
    with OpenAIServer(lambda _request: refusal) as server:
        status, _, err = run(SPECIFICATION, server=server, OPENAI_API_KEY=key)
    assert status == 3
    assert key not in err + json.dumps(the_report())


@pytest.mark.parametrize(("flags", "environment", "said"), read_table(__file__, "BAD_SETTINGS"))
def test_bad_settings(run: Run, flags: list[str], environment: dict[str, str], said: str) -> None:
    status, _, err = run(SPECIFICATION, *flags, **environment)
    assert status == 2
    assert said in err


@pytest.mark.slow
def test_output_beside_it_the_tests_and_a_record_that_plays_again(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        status, _, _ = run(
            SPECIFICATION, "-o", "new/topk.py", "--record", "kept.jsonl", server=server
        )
    assert status == 0
    assert "def top_k" in Path("new/topk.py").read_text("utf-8")
    assert "def test_negative" in Path("new/test_topk.py").read_text("utf-8")
    status, out, err = run(SPECIFICATION, "--model", "replay:kept.jsonl", "--json", "--quiet")
    assert (status, err) == (0, "")
    assert json.loads(out)["final_code"] == Path("new/topk.py").read_text("utf-8")


@pytest.mark.slow
def test_replay_says_on_screen_that_answers_are_recorded(run: Run) -> None:
    lines = [{"tool": tool, "answer": item} for tool, items in answers().items() for item in items]
    Path("r.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    status, _, err = run(SPECIFICATION, "--model", "replay:r.jsonl")
    assert status == 0
    assert "RECORDED" in err


def test_replay_that_runs_out_names_the_call(run: Run) -> None:
    Path("r.jsonl").write_text(
        json.dumps({"tool": "parse_specification", "answer": answers()["parse_specification"][0]})
    )
    status, _, err = run(SPECIFICATION, "--model", "replay:r.jsonl")
    assert status == 3
    assert "r.jsonl has no answer for generate_" in err


@pytest.mark.slow
def test_a_run_that_ended_on_unusable_answers_asks_once_more_when_resumed(run: Run) -> None:
    wrong = answers(generate_code=["nonsense", "nonsense again"])
    with OpenAIServer(Served(wrong)) as server:
        status, _, err = run(SPECIFICATION, "--run-dir", "run", server=server)
    assert status == 1
    assert "answered twice without the required form" in err
    assert "; `greenloop resume run` asks once more" in err
    with OpenAIServer(Served(answers())) as server:
        status, _, _ = run("resume", "run", server=server)
    assert status == 0


@pytest.mark.slow
def test_failed_code_is_not_written_unless_kept(run: Run) -> None:
    wrong = answers(generate_code=[fence(WRONG_CODE)])
    with OpenAIServer(Served(wrong)) as server:
        status, _, _ = run(SPECIFICATION, "-o", "topk.py", "--max-repairs", "0", server=server)
    assert status == 1
    assert not Path("topk.py").exists()
    with OpenAIServer(Served(wrong)) as server:
        status, _, _ = run(
            SPECIFICATION, "-o", "topk.py", "--max-repairs", "0", "--keep-best", server=server
        )
    assert status == 1
    assert "return sorted(xs)[:k]" in Path("topk.py").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["save_best", "save_report"])
def test_a_full_disk_loses_nothing(run: Run, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Code that was paid for is at least shown, and no file is named that was not written."""

    def full(_self: RunDirectory, _what: Any) -> None:
        raise OutputError("best/topk.py cannot be written: No space left on device")

    monkeypatch.setattr(RunDirectory, method, full)
    with OpenAIServer(Served(answers())) as server:
        status, out, err = run(SPECIFICATION, server=server)
    assert status == 2
    assert "No space left on device" in err
    assert "def top_k" in out
    assert "report" not in err


@pytest.mark.slow
def test_required_verification_that_is_not_reached(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        flags = ("--require", "verified", "--mutants", "0", "-o", "topk.py")
        status, out, _ = run(SPECIFICATION, *flags, server=server)
    assert status == 1
    assert "not verified: mutants" in out
    assert not Path("topk.py").exists()


def test_nothing_testable(run: Run) -> None:
    answer = fence(json.dumps({"requirements": [], "summary": "no behaviour is named"}), "json")
    with OpenAIServer(Served(answers(parse_specification=[answer]))) as server:
        status, _, err = run("Make it nice please", server=server)
    assert status == 2
    assert "no behaviour is named" in err


def test_the_key_reaches_nothing_but_the_server(run: Run) -> None:
    spy = "import os\n\nSEEN = dict(os.environ)\n\n\ndef top_k(xs, k):\n    raise KeyError(str(SEEN))\n"
    with OpenAIServer(Served(answers(generate_code=[fence(spy)]))) as server:
        _, out, err = run(SPECIFICATION, "--max-repairs", "0", "--verbose", server=server)
    files = [path for path in Path(".greenloop").rglob("*") if path.is_file()]
    texts = [
        out,
        err,
        *(path.read_text("utf-8", "replace") for path in files),
        str(server.requests),
    ]
    assert server.keys == [f"Bearer {KEY}"] * 4
    assert not [text for text in texts if KEY in text]
    assert "PYTHONHASHSEED" in err  # the spy's message did come through


@pytest.mark.slow
def test_report_of_the_latest_run(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        run(SPECIFICATION, server=server)
    status, out, _ = run("report")
    assert status == 0
    assert "- passed `test_negative` (R2)" in out
    status, out, _ = run("report", "--json")
    assert json.loads(out) == the_report()
    first = Path(the_report()["artifacts"]["run_dir"])
    with OpenAIServer(Served(answers())) as server:
        run(SPECIFICATION, "--fresh", server=server)
    run("resume", str(first))
    assert json.loads(run("report", "--json")[1])["artifacts"]["run_dir"] == str(first)


def test_watch_without_a_terminal_leaves_no_run(run: Run) -> None:
    Path("m.py").write_text("def f(x):\n    return x\n")
    Path("test_m.py").write_text("from m import f\n\ndef test_f():\n    assert f(1) == 1\n")
    status, _, err = run("check", "m.py", "test_m.py", "--watch")
    assert (status, "--watch needs a terminal" in err) == (2, True)
    assert not Path(".greenloop").exists()


def test_doctor_names_what_is_missing_and_how_to_mend_it(run: Run) -> None:
    status, out, _ = run("doctor")
    assert status == 3
    assert "ok       sandbox: " in out
    assert "OPENAI_API_KEY" in out
    status, out, _ = run("doctor", "--json", OPENAI_API_KEY=KEY)
    assert status == 0
    assert KEY not in out
    assert json.loads(out)["model"]["ok"] is True


def test_doctor_says_whether_the_server_of_the_model_answers(run: Run) -> None:
    with OpenAIServer(lambda _request: Reply()) as server:
        address = {"OPENAI_BASE_URL": server.url, "GREENLOOP_MODEL": "openai:own"}
        status, out, _ = run("doctor", **address)
    assert (status, "openai:own; the server does not list its models; not called" in out) == (
        0,
        True,
    )
    with OpenAIServer(lambda _request: Reply(), models=("owl", "qwen3")) as other:
        served = {"OPENAI_BASE_URL": other.url}
        status, out, _ = run("doctor", "--model", "openai:own", **served)
        assert (status, "the server has no model own; it has owl" in out) == (3, True)
        assert run("doctor", "--model", "openai:qwen3", **served)[0] == 0
    status, out, _ = run("doctor", **address)
    assert (status, "MISSING  model: openai:own\n" in out) == (3, True)
    assert f"no server answers at {server.url}; check that it runs, and the address\n" in out
    recording = Path(__file__).parents[3] / "examples" / "roman_numerals.jsonl"
    status, out, _ = run("doctor", "--model", f"replay:{recording}")
    assert (status, "recorded answers; no server is called" in out) == (0, True)


def test_doctor_names_the_packages_that_code_may_use(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    flags = ("--allow-package", "Requests>=2,<3", "--allow-package", "toolz==1.*")
    _, out, _ = run("doctor", "--verbose", *flags, GREENLOOP_ALLOWED_PACKAGES="PyYAML")
    line = next(line for line in out.splitlines() if line.startswith("ok       packages: "))
    assert "pyyaml (import yaml), requests<3,>=2, toolz==1.*; 0 sets of packages in" in line
    assert str(tmp_path / "cache") in line
    _, out, _ = run("doctor", GREENLOOP_ALLOWED_PACKAGES="none")
    assert "ok       packages: generated code may use no packages" in out


@pytest.mark.slow
def test_what_is_allowed_when_a_run_is_resumed_comes_on_top(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the agreed packages is lost: the run goes on once they can be had."""
    only_wheels_of(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    agreed = answers(parse_specification=[contract_answer(packages=["alpha"])])
    with OpenAIServer(Served(agreed)) as server:
        status, _, err = run(SPECIFICATION, "--allow-package", "alpha", server=server)
        assert status == 4
        assert "alpha cannot be installed: there is no wheel of alpha" in err
        wheel(tmp_path, "alpha", {"alpha.py": ""})
        folder = next(Path(".greenloop/runs").iterdir())
        status, _, err = run("resume", str(folder), server=server)
        assert status == 0
        assert "packages alpha 1.0 (installed)" in err
        assert [tool_of(item) for item in server.requests].count("parse_specification") == 1
    kept = load_request(RunDirectory(folder)).options
    assert (kept["allowed_packages"], kept["allow_package"]) == (None, "alpha")
    twice = answers(parse_specification=[contract_answer(packages=["alpha", "beta"])] * 2)
    with OpenAIServer(Served({**agreed, **twice})) as server:
        status, _, err = run(
            SPECIFICATION, "--allow-package", "alpha", "--run-dir", "two", server=server
        )
        assert status == 3
        assert "--allow-package beta" in err
    wheel(tmp_path, "beta", {"beta.py": ""})
    with OpenAIServer(Served({**answers(), **twice})) as server:
        status, _, err = run("resume", "two", "--allow-package", "beta", server=server)
        assert status == 0
        assert "packages alpha 1.0, beta 1.0 (installed)" in err


def test_doctor_shouts_where_there_is_no_sandbox(run: Run) -> None:
    status, out, _ = run("doctor", "--sandbox", "none", OPENAI_API_KEY=KEY)
    assert status == 0  # it was asked for
    assert "WARNING  sandbox: none: NONE: this machine's files, network" in out
    status, out, _ = run("doctor", "--sandbox", "none", "--json", OPENAI_API_KEY=KEY)
    assert json.loads(out)["sandbox"]["danger"] is True


@pytest.mark.slow
def test_module_is_found_for_a_local_server(run: Run) -> None:
    with OpenAIServer(Served(answers()), models=("llama3", "qwen3-coder:30b")) as server:
        status, _, err = run(SPECIFICATION, server=server)
    assert status == 0
    assert "openai-compatible:qwen3-coder:30b" in err
    assert server.requests[0]["model"] == "qwen3-coder:30b"
