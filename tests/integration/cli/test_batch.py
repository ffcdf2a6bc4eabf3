"""`batch` and `verify` from the command line, against a local server that speaks OpenAI's API."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.conftest import Run
from tests.support.many_specifications import (
    ManySpecifications,
    specification,
    write_specifications,
)
from tests.support.model_responses import GOOD_CODE
from tests.support.openai_server import OpenAIServer, Reply, tool_of
from tests.support.programs import read_table

QUICK = {"GREENLOOP_MUTANTS": "0", "GREENLOOP_HARDENING_ROUNDS": "0", "GREENLOOP_PEER": "0"}


@pytest.mark.slow
def test_a_folder_becomes_code_and_the_second_time_nothing_is_asked(run: Run) -> None:
    write_specifications(3)
    server_side = ManySpecifications()
    with OpenAIServer(server_side) as server:
        status, out, err = run("batch", "specs", "-o", "src", server=server, **QUICK)
        assert (status, "3 of 3 specifications reached" in out) == (0, True), err
        asked = sum(server_side.asked.values())
        assert asked == 12
        assert Path("src/top_1.py").read_text() == GOOD_CODE
        assert Path("src/test_top_1.py").exists()
        again = run("batch", "specs", "-o", "src", server=server, **QUICK)
        assert (again[0], "3 unchanged" in again[1]) == (0, True)
        assert sum(server_side.asked.values()) == asked
        Path("specs/top-1.md").write_text(specification(1, "Numbers are whole."))
        run("batch", "specs", "-o", "src", server=server, **QUICK)
    assert server_side.asked == {"0": 4, "1": 8, "2": 4}


@pytest.mark.slow
def test_nonsense_and_failures_touch_nobody_else(run: Run) -> None:
    write_specifications(4, s1="NONSENSE", s2="UPSIDE-DOWN")
    with OpenAIServer(ManySpecifications()) as server:
        status, out, _ = run(
            *("batch", "specs", "-o", "src", "--json", "--max-repairs", "1"), server=server, **QUICK
        )
    totals = json.loads(out)
    assert status == 1
    assert (totals["reached"], totals["missed"], totals["broken_off"]) == (2, 1, 1)
    assert sorted(path.name for path in Path("src").glob("top_*.py")) == ["top_0.py", "top_3.py"]
    (results,) = Path(".greenloop/batches").glob("*/results.jsonl")
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert {item["id"]: item["exit_status"] for item in lines} == {
        "top-0": 0,
        "top-1": 1,
        "top-2": 1,
        "top-3": 0,
    }
    page = results.with_name("index.html").read_text("utf-8")
    assert all(told in page for told in ("2 passed", "1 failed", "1 error"))
    pages = re.findall(r'href="\./(runs/[^"]*/report\.html)"', page)
    assert len(pages) == 4
    assert all((results.parent / place).is_file() for place in pages)


@pytest.mark.slow
def test_json_lines_with_tests_and_outputs(run: Run) -> None:
    Path("own_tests.py").write_text(
        "from top import top_k\n\ndef test_own():\n    assert top_k([1, 2], 1) == [2]\n"
    )
    lines = [
        {"id": "a", "spec": specification(1), "output": "out/top.py", "tests": "own_tests.py"},
        {"id": "b", "spec": specification(2)},
    ]
    Path("many.jsonl").write_text("\n".join(json.dumps(item) for item in lines) + "\n\n")
    with OpenAIServer(ManySpecifications()) as server:
        status, _, err = run("batch", "many.jsonl", server=server, **QUICK)
    assert status == 0, err
    assert Path("out/top.py").exists()
    assert Path("out/top.greenloop.json").exists()


@pytest.mark.slow
def test_where_nothing_can_be_written_nothing_is_paid_and_what_was_paid_is_told(run: Run) -> None:
    server_side = ManySpecifications()

    def respond(request: dict[str, Any]) -> Reply:
        if tool_of(request) == "review_code":  # another process is faster
            Path("top.py").write_text("mine = 1\n")
        return server_side(request)

    Path("a_file").write_text("")
    lines = [
        {"id": "a", "spec": specification(1), "output": "a_file/top.py"},
        {"id": "b", "spec": specification(2), "output": "top.py"},
    ]
    Path("many.jsonl").write_text("\n".join(json.dumps(item) for item in lines))
    with OpenAIServer(respond) as server:
        status, out, err = run("batch", "many.jsonl", "--json", server=server, **QUICK)
    assert status == 1
    assert "a_file is not a folder" in err
    assert "top.py was not written by greenloop; --force overwrites it" in err
    assert server_side.asked == {"2": 4}
    assert json.loads(out)["calls"] == 4
    assert Path("top.py").read_text() == "mine = 1\n"


@pytest.mark.slow
def test_a_total_budget_ends_the_batch_and_the_same_command_goes_on(run: Run) -> None:
    write_specifications(4)
    server_side = ManySpecifications()
    with OpenAIServer(server_side) as server:
        few = ("batch", "specs", "-o", "src", "--jobs", "1", "--max-tokens", "1500")
        status, _, err = run(*few, server=server, **QUICK)
        assert status == 5
        assert "continues where" in err
        first = sum(server_side.asked.values())
        status, _, _ = run("batch", "specs", "-o", "src", server=server, **QUICK)
        assert status == 0
    assert 0 < first < 16
    assert sum(server_side.asked.values()) == 16


def test_a_refused_key_is_not_tried_a_thousand_times(run: Run) -> None:
    write_specifications(6)
    with OpenAIServer(lambda _request: Reply("Incorrect API key", status=401)) as server:
        status, _, err = run("batch", "specs", "--jobs", "1", server=server, **QUICK)
        assert len(server.requests) == 1
    assert status == 3
    assert "the key was refused" in err


BAD = read_table(__file__, "bad_input")


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_before_anything_is_asked(run: Run, case: str) -> None:
    Path("empty").mkdir()
    Path("specs").mkdir()
    Path("specs/class.md").write_text("Write a class.")
    Path("empty.md").write_text(" \n")
    Path("broken.jsonl").write_text('{"id": "a", "spec": "x"}\n{"id"\n')
    Path("nospec.jsonl").write_text('{"id": "a"}\n')
    Path("mistyped.jsonl").write_text('{"id": "a", "spec": "x", "test": "t.py"}\n')
    Path("untested.jsonl").write_text('{"id": "a", "spec": "x", "tests": "t.py"}\n')
    Path("twice.jsonl").write_text('{"id": "a", "spec": "x"}\n{"id": "a", "spec": "y"}\n')
    arguments, text = BAD[case]
    with OpenAIServer(ManySpecifications()) as server:
        status, _, err = run("batch", *arguments, server=server)
        assert server.requests == []
    assert status == 2
    assert text in err


@pytest.mark.slow
def test_verify_holds_and_tells_what_drifted(run: Run) -> None:
    write_specifications(2)
    with OpenAIServer(ManySpecifications()) as server:
        run("batch", "specs", "-o", "src", server=server, **QUICK)
    status, out, err = run("verify", "src", **QUICK)
    assert (status, out.count("holds")) == (0, 2), err
    code = Path("src/top_0.py")
    code.write_text(code.read_text() + "\n# touched\n")
    Path("src/test_top_1.py").unlink()
    status, out, _ = run("verify", **QUICK)
    assert status == 1
    assert "the code top_0.py is not the one that was graded" in out
    assert "the tests test_top_1.py cannot be read" in out
    status, out, _ = run("verify", "src/top_0.greenloop.json", "--json", "--digests-only")
    assert json.loads(out)[0]["drift"]
