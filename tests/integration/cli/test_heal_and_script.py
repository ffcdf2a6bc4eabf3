"""`heal` and `script` from the command line, against a local server that speaks OpenAI's API."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.conftest import Run, Served
from tests.support.model_responses import GOOD_CODE, GOOD_TESTS, WRONG_CODE, fence
from tests.support.openai_server import OpenAIServer
from tests.support.programs import read_program

TASK = "Sum up sales.csv by region: print the sums, and write them to totals.csv."
SUMS = read_program(__file__, "SUMS")
PROPOSED = [{"check": "file", "path": "totals.csv", "columns": ["region", "total"]}]
SCRIPTED = {
    "propose_checks": [fence(json.dumps(PROPOSED), "json")],
    "write_script": [fence(SUMS.format("region"))],
    "repair_script": [fence(SUMS.format("Region"))],
}
OLD = (
    b"#!/usr/bin/env python\r\n# -*- coding: latin-1 -*-\r\nprint('caf\xe9')\r\nprint(1 / zero)\r\n"
)
HEALED = (
    "#!/usr/bin/env python\n# -*- coding: latin-1 -*-\nzero = 1\nprint('café')\nprint(1 / zero)\n"
)


@pytest.fixture(autouse=True)
def sales() -> None:
    Path("sales.csv").write_text("Region,Amount\nNorth,12\nSouth,7\nNorth,1\n")


def test_a_task_becomes_a_script_whose_output_is_checked(run: Run) -> None:
    with OpenAIServer(Served(SCRIPTED)) as server:
        status, out, err = run(
            *("script", TASK, "--input", "sales.csv", "--expect", "/North\\s+13/"),
            *("--expect-file", "totals.csv:rows=2", "-o", "sums.py", "--artifacts", "made"),
            server=server,
        )
    assert status == 0
    assert out == "North 13\nSouth 7\n"
    assert Path("sums.py").read_text() == SUMS.format("Region")
    assert Path("made/totals.csv").read_text() == "region,total\nNorth,13\nSouth,7\n"
    assert "KeyError: 'region'" in err
    assert "totals.csv" in err
    assert "passed:" in err


def test_a_report_of_a_script_has_what_it_showed(run: Run) -> None:
    with OpenAIServer(Served(SCRIPTED)) as server:
        status, out, _ = run("script", TASK, "--input", "sales.csv", "--json", server=server)
    report: dict[str, Any] = json.loads(out)
    assert (status, report["command"], report["verdict"]) == (0, "script", "passed")
    assert report["script"]["stdout"] == "North 13\nSouth 7\n"
    assert [item["path"] for item in report["script"]["made"]] == ["totals.csv"]
    assert [item["kind"] for item in report["attempts"]] == ["generate", "repair"]
    assert str(Path.cwd()) not in json.dumps(report["script"])


def test_what_was_not_reached_is_written_nowhere(run: Run) -> None:
    broken = {**SCRIPTED, "repair_script": [fence(SUMS.format("area"))]}
    with OpenAIServer(Served(broken)) as server:
        status, _, err = run(
            *("script", TASK, "--input", "sales.csv", "-o", "sums.py", "--max-repairs", "1"),
            server=server,
        )
    assert status == 1
    assert not Path("sums.py").exists()
    assert "failed:" in err


def test_a_script_is_healed_in_its_place_and_stays_what_it_was(run: Run) -> None:
    old = Path("old.py")
    old.write_bytes(OLD)
    old.chmod(0o754)
    with OpenAIServer(Served({"repair_script": [fence(HEALED)]})) as server:
        status, out, _ = run("heal", "old.py", "--yes", server=server)
    assert status == 0
    assert old.read_bytes() == HEALED.replace("\n", "\r\n").encode("latin-1")
    assert old.stat().st_mode & 0o777 == 0o754
    assert "+zero = 1" in out
    (kept,) = Path(".greenloop/runs").glob("*/original/old.py")
    assert kept.read_bytes() == OLD


def test_what_a_repair_did_is_said(run: Run) -> None:
    """Its output before and after, a hidden error, and that little was checked."""
    broken = "open('made.txt', 'w').write('x')\nprint('begun')\nprint(1 / 0)\n"
    hiding = broken.replace("print(1", "try:\n    print(1").replace(
        "/ 0)", "/ 0)\nexcept Exception:\n    pass"
    )
    Path("old.py").write_text(broken)
    Path("quiet.py").write_text("x = 1\n")
    with OpenAIServer(Served({"repair_script": [fence(hiding)]})) as server:
        status, out, err = run("heal", "old.py", "--yes", "--artifacts", "made", server=server)
    assert status == 0, err
    assert "before: exit status 1 (ZeroDivisionError: division by zero), printed: begun" in err
    assert "after: exit status 0, printed: begun" in err
    assert "the repair suppresses errors: line 5 catches Exception and goes on" in out
    assert Path("made/made.txt").read_text() == "x"
    status, out, err = run("heal", "quiet.py")
    assert status == 0, err
    assert "only its exit status was checked: add --expect" in out


def test_another_place_leaves_the_file_alone(run: Run) -> None:
    Path("old.py").write_bytes(OLD)
    with OpenAIServer(Served({"repair_script": [fence(HEALED)]})) as server:
        status, _, _ = run("heal", "old.py", "-o", "new.py", server=server)
    assert status == 0
    assert Path("old.py").read_bytes() == OLD
    assert b"zero = 1" in Path("new.py").read_bytes()


@pytest.mark.parametrize("command", ["heal", "script"])
def test_a_file_that_the_output_replaces_is_kept(run: Run, command: str) -> None:
    Path("old.py").write_bytes(OLD)
    Path("mine.py").write_text("mine = 1\n")
    words = ("old.py",) if command == "heal" else (TASK, "--input", "sales.csv")
    served = Served(
        {**SCRIPTED, "repair_script": [fence(HEALED)]} if command == "heal" else SCRIPTED
    )
    with OpenAIServer(served) as server:
        status, _, err = run(command, *words, "-o", "mine.py", server=server)
    assert status == 0, err
    assert Path("mine.py").read_bytes() != b"mine = 1\n"
    (kept,) = Path(".greenloop/runs").glob("*/original/replaced/mine.py")
    assert kept.read_text() == "mine = 1\n"
    assert "mine.py is overwritten; a copy is kept as " in err


def test_a_file_that_an_artifact_replaces_is_kept(run: Run) -> None:
    Path("made").mkdir()
    Path("made/totals.csv").write_text("mine\n")
    with OpenAIServer(Served(SCRIPTED)) as server:
        status, _, err = run(
            *("script", TASK, "--input", "sales.csv", "--artifacts", "made"), server=server
        )
    assert status == 0, err
    assert Path("made/totals.csv").read_text() == "region,total\nNorth,13\nSouth,7\n"
    (kept,) = Path(".greenloop/runs").glob("*/original/replaced/totals.csv")
    assert kept.read_text() == "mine\n"


def test_arguments_input_and_stdin_reach_the_script(run: Run) -> None:
    Path("args.py").write_text(
        "import sys\nprint(sys.argv[1:], sys.stdin.read(), open('deep/in.txt').read())\n"
    )
    Path("in.txt").write_text("inner")
    Path("said.txt").write_text("said")
    status, _, err = run(
        *("heal", "args.py", "--stdin", "said.txt", "--input", "in.txt=deep/in.txt"),
        *("--expect", "['-x', 'a b'] said inner", "--json", "--", "-x", "a b"),
    )
    assert status == 0, err


def test_a_module_is_healed_against_its_tests(run: Run) -> None:
    Path("topk.py").write_text(WRONG_CODE)
    Path("test_topk.py").write_text(GOOD_TESTS)
    with OpenAIServer(Served({"repair_code": [fence(GOOD_CODE)]})) as server:
        status, out, _ = run(
            *("heal", "topk.py", "--tests", "test_topk.py", "--yes", "--seconds", "0.1"),
            server=server,
        )
    assert status == 0
    assert Path("topk.py").read_text() == GOOD_CODE
    assert Path("test_topk.py").read_text() == GOOD_TESTS
    assert "+        raise ValueError" in out


BAD = {
    "no such file": (["heal", "nowhere.py"], 2, "nowhere.py"),
    "a folder": (["heal", "."], 2, "folder"),
    "binary": (["heal", "binary.py"], 2, "binary.py"),
    "empty": (["heal", "empty.py"], 2, "nothing to heal"),
    "no such tests": (["heal", "ok.py", "--tests", "no.py"], 2, "does not exist"),
    "tests and arguments": (["heal", "ok.py", "--tests", "ok.py", "--", "x"], 2, "--tests"),
    "no such input": (["heal", "ok.py", "--input", "no.csv"], 2, "--input no.csv"),
    "an input outside": (["heal", "ok.py", "--input", "ok.py=../x"], 2, "inside the script's"),
    "an input twice": (
        ["heal", "ok.py", "--input", "ok.py", "--input", "ok.py"],
        2,
        "the same path",
    ),
    "a wrong regex": (["heal", "ok.py", "--expect", "/(/"], 2, "regular expression"),
    "a wrong check": (["heal", "ok.py", "--expect-file", "a.csv:rows=x"], 2, "rows"),
    "a wrong schema": (["script", TASK, "--expect-json-schema", "ok.py"], 2, "Schema"),
    "no task": (["script", " "], 2, "empty"),
    "no such folder to write": (["script", TASK, "--artifacts", "ok.py"], 2, "is a file"),
    "no model, no tests": (["heal", "ok.py", "--model", "none"], 2, "--tests"),
    "no model for a task": (["script", TASK, "--model", "none"], 3, "--model none"),
    "no model at all": (["script", TASK], 3, "no model is configured"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_clear_line(run: Run, case: str) -> None:
    Path("binary.py").write_bytes(bytes(range(256)))
    Path("empty.py").write_text("\n")
    Path("ok.py").write_text("print('ok')\n")
    before = {path: path.read_bytes() for path in Path().glob("*.*") if path.is_file()}
    arguments, wanted, text = BAD[case]
    status, out, err = run(*arguments)
    assert status == wanted
    assert text in err
    assert "Traceback" not in err
    assert out == ""
    assert {path: path.read_bytes() for path in before} == before


def test_a_file_that_cannot_be_written_is_told_before_anything_is_paid(run: Run) -> None:
    if os.getuid() == 0:
        pytest.skip("root may write anywhere")
    Path("locked").mkdir(mode=0o500)
    Path("old.py").write_bytes(OLD)
    status, _, err = run("heal", "old.py", "-o", "locked/new.py")
    assert status == 2
    assert "locked/new.py" in err
