"""`greenloop resume`, `batch` and `verify`: work is paid once, and what was graded is what is there."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import QUICK, Run, Served
from tests.support.many_specifications import ManySpecifications, write_specifications
from tests.support.model_responses import SPECIFICATION, answers
from tests.support.openai_server import OpenAIServer, Reply, tool_of


def test_an_interrupted_run_is_resumed_without_paying_twice(run: Run) -> None:
    refused = [Reply("the model is overloaded", status=401)]
    script = answers()
    with OpenAIServer(Served({**script, "review_code": refused})) as server:
        status, _, err = run(SPECIFICATION, "--run-dir", "run", server=server, **QUICK)
    assert status == 3, err
    with OpenAIServer(Served({"review_code": script["review_code"]})) as server:
        status, out, err = run("resume", "run", server=server, **QUICK)
    assert status == 0, err
    assert [tool_of(item) for item in server.requests] == ["review_code"]
    assert "def top_k" in out


@pytest.mark.usefixtures("examples")
def test_a_batch_takes_the_recording_of_each_text_from_a_folder(run: Run) -> None:
    specs = [f"examples/traps/{name}.md" for name in ("wrong_example", "order")]
    Path("other.md").write_text("Write f(x).")
    words = ("batch", *specs, "other.md", "--model", "replay:examples", "--json")
    status, out, err = run(*words, **QUICK)
    totals = json.loads(out)
    assert (status, totals["reached"], totals["broken_off"]) == (1, 2, 1), out
    assert "examples has no recording of this text" in err


def test_a_batch_of_three_goes_on_past_nonsense_and_asks_nothing_twice(run: Run) -> None:
    write_specifications(3, s1="NONSENSE", s2="UPSIDE-DOWN")
    model = ManySpecifications()
    words = ("batch", "specs", "-o", "src", "--json", "--max-repairs", "1")
    with OpenAIServer(model) as server:
        status, out, _ = run(*words, server=server, **QUICK)
        totals = json.loads(out)
        assert status == 1
        assert (totals["reached"], totals["missed"], totals["broken_off"]) == (1, 1, 1)
        assert [path.name for path in Path("src").glob("top_*.py")] == ["top_0.py"]
        asked = model.asked["0"]
        run(*words, server=server, **QUICK)
        assert model.asked["0"] == asked


def test_verify_confirms_what_was_graded_and_names_what_has_changed(run: Run) -> None:
    with OpenAIServer(Served(answers())) as server:
        status, _, err = run(SPECIFICATION, "-o", "topk.py", server=server, **QUICK)
    assert status == 0, err
    status, out, err = run("verify", **QUICK)
    assert (status, out) == (0, "holds    topk.greenloop.json: passed\n"), err
    Path("topk.py").write_text(Path("topk.py").read_text() + "\n# touched\n")
    status, out, _ = run("verify", **QUICK)
    assert status == 1
    assert "the code topk.py is not the one that was graded" in out
