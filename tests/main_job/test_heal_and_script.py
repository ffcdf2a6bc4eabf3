"""`greenloop heal` and `greenloop script` on the examples and their recordings."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import QUICK, Run
from tests.support.model_responses import GOOD_CODE, GOOD_TESTS

pytestmark = pytest.mark.usefixtures("examples")


def test_a_broken_script_is_healed_until_its_output_passes_its_checks(run: Run) -> None:
    folder = Path("examples/heal_sales_summary")
    status, out, err = run(
        *("heal", f"{folder}/summary.py", "--input", f"{folder}/sales.csv=sales.csv"),
        *("--expect", "6 sales in 3 regions", "--expect-file", "totals.csv:rows=3", "--yes"),
        *("--model", f"replay:{folder}/answers.jsonl"),
    )
    assert status == 0, err
    assert '+        region = sale["Sales Region"]' in out
    assert 'sale["Sales Region"]' in (folder / "summary.py").read_text("utf-8")


def test_a_file_is_not_written_over_without_a_yes(run: Run) -> None:
    folder = Path("examples/heal_silent_report")
    old = (folder / "report.py").read_bytes()
    status, _, err = run(
        *("heal", f"{folder}/report.py", "--input", f"{folder}/disks.table=disks.txt"),
        *("--expect", "2 of 4 machines", "--model", f"replay:{folder}/answers.jsonl"),
        *("--", "--limit", "0.95"),
    )
    assert (status, "--yes writes it" in err) == (1, True), err
    assert (folder / "report.py").read_bytes() == old


def test_a_module_is_healed_by_search_without_a_model(run: Run) -> None:
    broken = GOOD_CODE.replace("k < 0", "k <= 0")
    Path("topk.py").write_text(broken)
    Path("test_topk.py").write_text(
        "import pytest\nfrom topk import top_k\n\n\ndef test_none():\n    assert top_k([1], 0) == []\n\n\n"
        "def test_negative():\n    with pytest.raises(ValueError):\n        top_k([1], -1)\n"
    )
    words = ("heal", "topk.py", "--tests", "test_topk.py", "--model", "none", "--yes")
    status, _, err = run(*words, "--require", "passed", **QUICK)
    assert status == 0, err
    assert Path("topk.py").read_text() == GOOD_CODE


def test_a_module_that_cannot_be_healed_stays_as_it_is(run: Run) -> None:
    folder = Path("examples/heal_unhealable")
    old = (folder / "rounding.py").read_bytes()
    status, out, err = run(
        *("heal", f"{folder}/rounding.py", "--tests", f"{folder}/test_rounding.py", "--yes"),
        *("--max-repairs", "2", "--model", f"replay:{folder}/answers.jsonl", "--json"),
    )
    assert status == 1, err
    assert any("contradict each other" in item for item in json.loads(out)["reasons"])
    assert (folder / "rounding.py").read_bytes() == old


def test_a_healthy_module_needs_no_model(run: Run) -> None:
    Path("topk.py").write_text(GOOD_CODE)
    Path("test_topk.py").write_text(GOOD_TESTS)
    status, _, err = run("heal", "topk.py", "--tests", "test_topk.py", **QUICK)
    assert (status, "nothing to heal" in err) == (0, True), err


def test_a_task_becomes_a_script_whose_output_was_checked(run: Run) -> None:
    folder = "examples/script_log_report"
    status, out, err = run(
        *("script", f"{folder}/task", "--input", f"{folder}/access.log=access.log"),
        *("--expect", "requests: ", "--expect-file", "by_hour.csv:rows=24"),
        *("--model", f"replay:{folder}/answers.jsonl", "--artifacts", "made", "-o", "log.py"),
    )
    assert status == 0, err
    assert out.splitlines()[0] == "requests: 61"
    assert Path("made/by_hour.csv").read_text().startswith("hour,requests,errors,bytes")
    assert Path("log.py").exists()
