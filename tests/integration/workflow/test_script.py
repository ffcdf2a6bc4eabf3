"""Scripts: checks before code, runs that are checked, repairs that keep features."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from greenloop.errors import InputError, NoModelError
from greenloop.events import ChecksReady, DisputeJudged, Notice
from greenloop.records import OutputCheck
from greenloop.scripts.checks.options import parse_expect, parse_expect_file
from greenloop.workflow.heal.request import HealScriptRequest, OriginalFile
from greenloop.workflow.script.request import InputRef, ScriptRequest, ScriptSpec
from greenloop.workflow.storage.request import RunRequest
from tests.support.model_responses import fence
from tests.support.workflow_runs import RunWorkflow

TASK = "Print how many rows sales.csv has, as `rows: N`."
GOOD = "import csv\nprint('rows:', len(list(csv.reader(open('sales.csv')))) - 1)\n"
SILENT = "import csv\nrows = list(csv.reader(open('sales.csv')))\n"
BROKEN = "import csv\nrows = list(csv.DictReader(open('sales.csv')))\nprint(rows[0]['region'])\n"
PROPOSED = [{"check": "stdout", "matches": r"^rows: \d+$"}]


def propose(*checks: dict[str, Any]) -> str:
    return fence(json.dumps(list(checks)), "json")


def sales(tmp_path: Path) -> InputRef:
    path = tmp_path / "sales.csv"
    path.write_text("Region,Amount\nNorth,12\nSouth,7\n")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return InputRef(path="sales.csv", source=str(path), sha256=sha256)


def build_request(tmp_path: Path, *checks: OutputCheck, **changes: Any) -> RunRequest:
    script = ScriptSpec(name="script.py", inputs=(sales(tmp_path),), checks=checks)
    return ScriptRequest(specification=TASK, script=script).model_copy(update=changes)


def existing(tmp_path: Path, text: str, *checks: OutputCheck) -> RunRequest:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    original = OriginalFile(path=str(tmp_path / "old.py"), text=text, sha256=sha256)
    script = ScriptSpec(name="old.py", inputs=(sales(tmp_path),), checks=checks)
    return HealScriptRequest(original=original, script=script)


def test_checks_are_proposed_before_the_script_is_written(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    answers = {"propose_checks": [propose(*PROPOSED)], "write_script": [fence(GOOD)]}
    done = run_workflow(answers, request=build_request(tmp_path))
    assert done.model.tools == ["propose_checks", "write_script"]
    assert done.report.verdict == "passed"
    assert done.report.script is not None
    assert done.report.script.stdout == "rows: 2\n"
    (ready,) = done.events_of(ChecksReady)
    assert [item.kind for item in ready.checks] == ["status", "prints", "matches"]
    assert {item.origin for item in done.report.tests} == {"given", "generated"}
    assert "Region,Amount" in done.model.list_prompts("write_script")[0]


def test_script_that_prints_nothing_is_repaired(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    answers = {
        "propose_checks": [propose()],
        "write_script": [fence(SILENT)],
        "repair_script": [fence(GOOD)],
    }
    done = run_workflow(answers, request=build_request(tmp_path))
    assert done.kinds == ["generate", "repair"]
    assert "ran but printed nothing" in done.model.list_prompts("repair_script")[0]
    assert done.report.verdict == "passed"


def test_repair_prompt_shows_line_and_locals_of_a_crash(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    answers = {
        "propose_checks": [propose()],
        "write_script": [fence(BROKEN)],
        "repair_script": [fence(GOOD)],
    }
    done = run_workflow(answers, request=build_request(tmp_path))
    (prompt,) = done.model.list_prompts("repair_script")
    assert "KeyError: 'region'" in prompt
    assert "script.py:3 in <module>: print(rows[0]['region'])" in prompt
    assert "'Region': 'North'" in prompt  # the locals
    assert str(tmp_path) not in prompt


def test_repair_prompt_shows_output_of_a_failed_check(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    wanted = (parse_expect("rows: 2"), *parse_expect_file("out.csv:rows=2"))
    writes = GOOD + "open('out.csv', 'w').write('a\\n1\\n')\n"
    both = GOOD + "open('out.csv', 'w').write('a\\n1\\n2\\n')\n"
    answers = {
        "propose_checks": [propose()],
        "write_script": [fence(writes)],
        "repair_script": [fence(both)],
    }
    done = run_workflow(answers, request=build_request(tmp_path, *wanted))
    assert "1" in done.model.list_prompts("repair_script")[0].partition("out.csv")[2]
    assert done.report.verdict == "passed"
    made = Path(done.report.artifacts.made or "") / "out.csv"
    assert made.read_text() == "a\n1\n2\n"


def test_only_proposed_checks_can_be_judged_wrong(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    wrong = {"check": "stdout", "contains": "rows: 3"}
    dispute = "DISPUTE prints 'rows: 3': there are two rows\n"
    answers = {
        "propose_checks": [propose(wrong)],
        "write_script": [fence(GOOD)],
        "repair_script": [dispute],
        "judge_check": [fence('{"wrong": "test", "because": "two rows are shown"}', "json")],
    }
    done = run_workflow(answers, request=build_request(tmp_path))
    assert done.report.verdict == "passed"
    assert len(done.events_of(DisputeJudged)) == 1
    assert GOOD.splitlines()[1] not in done.model.list_prompts("judge_check")[0]
    (dropped,) = [item for item in done.report.tests if item.outcome == "dropped"]
    assert dropped.judgement == "two rows are shown"

    answers = {
        "propose_checks": [propose()],
        "write_script": [fence(GOOD)],
        "repair_script": [dispute + fence(GOOD)],
    }
    done = run_workflow(
        answers, request=build_request(tmp_path, parse_expect("rows: 3")), max_repairs=1
    )
    assert done.report.verdict == "failed"
    assert not done.events_of(DisputeJudged)


def test_check_that_holds_for_an_empty_script_is_dropped(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    empty = {"check": "stdout", "matches": "^$|rows"}
    answers = {"propose_checks": [propose(empty)], "write_script": [fence(GOOD)]}
    done = run_workflow(answers, request=build_request(tmp_path))
    (aside,) = [item for item in done.report.tests if item.outcome == "dropped"]
    assert "does nothing" in (aside.judgement or "")


def test_healthy_script_needs_no_model(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    done = run_workflow({}, request=existing(tmp_path, GOOD))
    assert done.report.verdict == "passed"
    assert done.model.tools == []
    assert any("nothing to heal" in item.text for item in done.events_of(Notice))


def test_repair_that_drops_a_feature_is_rejected(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    old = "def shown(row):\n    return row['region']\n\n\n" + BROKEN.replace(
        "rows[0]['region']", "shown(rows[0])"
    )
    kept = old.replace("row['region']", "row['Region']")
    answers = {"repair_script": [fence(GOOD), fence(kept)]}
    done = run_workflow(answers, request=existing(tmp_path, old))
    first, second = done.model.list_prompts("repair_script")
    assert "shown" in second.removeprefix(first)
    assert done.report.final_code == kept
    assert done.report.verdict == "passed"


def test_output_printed_before_has_to_stay(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    old = "word = 'reading'\nprint(word, 'sales.csv')\n" + BROKEN
    quiet = old.replace("print(word", "if word == 'so':\n    print(word").replace(
        "region", "Region"
    )
    kept = old.replace("region", "Region")
    done = run_workflow(
        {"repair_script": [fence(quiet), fence(kept)]}, request=existing(tmp_path, old)
    )
    assert done.kinds[-2:] == ["repair", "repair"]
    assert "reading sales.csv" in done.model.list_prompts("repair_script")[1]
    assert done.report.verdict == "passed"


def test_missing_colons_and_imports_are_fixed_without_a_model(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    old = "rows = list(csv.reader(open('sales.csv')))\nif rows\n    print('rows: %d' % (len(rows) - 1))\n"
    done = run_workflow({}, request=existing(tmp_path, old, parse_expect("rows: 2")))
    assert done.kinds == ["generate", "free-fix"]
    assert done.report.verdict == "passed"
    assert done.model.tools == []


def test_unhealed_script_is_reported_as_its_best_attempt(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    later = BROKEN.replace("region", "nothing")
    done = run_workflow(
        {"repair_script": [fence(later)]}, request=existing(tmp_path, BROKEN), max_repairs=1
    )
    assert done.report.verdict == "failed"
    assert done.report.original == BROKEN
    assert Path(done.report.artifacts.best_code or "").name == "old.py"


def test_changed_input_ends_the_run(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    request = build_request(tmp_path)
    (tmp_path / "sales.csv").write_text("other")
    done = run_workflow({}, request=request)
    assert isinstance(done.error, InputError)
    assert "has changed" in str(done.error)


def test_broken_script_without_a_model_ends_with_advice(tmp_path: Path) -> None:
    import asyncio

    from greenloop.agent import CodingAgent
    from greenloop.settings import Settings

    agent = CodingAgent(Settings(home=tmp_path / "home"))
    with pytest.raises(NoModelError, match="no model is configured"):
        asyncio.run(agent.run(existing(tmp_path, BROKEN)))


def test_the_prompt_does_not_grow_with_the_number_of_attempts(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    tries = [BROKEN.replace("region", f"column_{n}") for n in range(12)]
    answers = {"repair_script": [fence(item) for item in tries]}
    done = run_workflow(answers, request=existing(tmp_path, BROKEN), max_repairs=12)
    sizes = [len(item) for item in done.model.list_prompts("repair_script")]
    assert len(sizes) >= 3
    assert max(sizes[-2:]) < sizes[0] + 2500


def test_missing_module_beside_the_script_ends_the_run_with_its_option(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("X = 1\n")
    text = "import helper\n\nprint(helper.X)\n"
    done = run_workflow({}, request=existing(tmp_path, text))
    assert isinstance(done.error, InputError)
    assert "helper is beside the script" in str(done.error)
    assert "--input helper.py" in str(done.error)


def test_input_at_another_path_is_named_with_its_option(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    text = GOOD.replace("sales.csv", "data/sales.csv")
    done = run_workflow({"repair_script": [fence(GOOD)]}, request=existing(tmp_path, text))
    (text,) = [item.text for item in done.events_of(Notice) if "--input" in item.text]
    assert "sales.csv" in text
    assert "--input PATH=data/sales.csv" in text


def test_prompts_name_the_check_of_previous_output(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    done = run_workflow({"repair_script": [fence(GOOD)]}, request=existing(tmp_path, BROKEN))
    (prompt,) = done.model.list_prompts("repair_script")
    assert prompt.count("the script ends with status 0") == 1
    assert "the script prints what it printed before" in prompt
    assert "so that they can be wrong: `prints what it printed before`" in prompt
