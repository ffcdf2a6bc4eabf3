"""The way of a script: checks before code, runs that are looked at, repairs that keep what was there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from greenloop.errors import InputError, NoModelError
from greenloop.events import ChecksReady, DisputeJudged, Notice
from greenloop.records import OutputCheck
from greenloop.scripts.checks.options import parse_expect, parse_expect_file
from greenloop.workflow.storage.request import InputRef, OriginalFile, RunRequest, ScriptRequest
from tests.support.model_responses import fenced

if TYPE_CHECKING:
    from tests.unit.workflow.conftest import Way

TASK = "Print how many rows sales.csv has, as `rows: N`."
GOOD = "import csv\nprint('rows:', len(list(csv.reader(open('sales.csv')))) - 1)\n"
SILENT = "import csv\nrows = list(csv.reader(open('sales.csv')))\n"
BROKEN = "import csv\nrows = list(csv.DictReader(open('sales.csv')))\nprint(rows[0]['region'])\n"
PROPOSED = [{"check": "stdout", "matches": r"^rows: \d+$"}]


def proposed(*checks: dict[str, Any]) -> str:
    return fenced(json.dumps(list(checks)), "json")


def sales(tmp_path: Path) -> InputRef:
    path = tmp_path / "sales.csv"
    path.write_text("Region,Amount\nNorth,12\nSouth,7\n")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return InputRef(path="sales.csv", source=str(path), sha256=sha256)


def asked(tmp_path: Path, *checks: OutputCheck, **changes: Any) -> RunRequest:
    script = ScriptRequest(name="script.py", inputs=(sales(tmp_path),), checks=checks)
    return RunRequest(kind="script", specification=TASK, script=script).model_copy(update=changes)


def existing(tmp_path: Path, text: str, *checks: OutputCheck) -> RunRequest:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    original = OriginalFile(path=str(tmp_path / "old.py"), text=text, sha256=sha256)
    request = asked(tmp_path, *checks, kind="heal", specification="", original=original)
    assert request.script is not None
    return request.model_copy(
        update={"script": request.script.model_copy(update={"name": "old.py"})}
    )


def test_checks_are_made_and_shown_before_the_script_is_written(way: Way, tmp_path: Path) -> None:
    answers = {"generate_tests": [proposed(*PROPOSED)], "write_script": [fenced(GOOD)]}
    done = way(answers, request=asked(tmp_path))
    assert done.model.tools == ["generate_tests", "write_script"]
    assert done.report.verdict == "passed"
    assert done.report.script is not None
    assert done.report.script.stdout == "rows: 2\n"
    (ready,) = done.told(ChecksReady)
    assert [item.kind for item in ready.checks] == ["status", "prints", "matches"]
    assert {item.origin for item in done.report.tests} == {"given", "generated"}
    assert "Region,Amount" in done.model.asked("write_script")[0]


def test_a_script_that_prints_nothing_is_no_success(way: Way, tmp_path: Path) -> None:
    answers = {
        "generate_tests": [proposed()],
        "write_script": [fenced(SILENT)],
        "repair_script": [fenced(GOOD)],
    }
    done = way(answers, request=asked(tmp_path))
    assert done.kinds == ["generate", "repair"]
    assert "ran but printed nothing" in done.model.asked("repair_script")[0]
    assert done.report.verdict == "passed"


def test_a_crash_goes_back_with_its_line_and_what_was_there(way: Way, tmp_path: Path) -> None:
    answers = {
        "generate_tests": [proposed()],
        "write_script": [fenced(BROKEN)],
        "repair_script": [fenced(GOOD)],
    }
    done = way(answers, request=asked(tmp_path))
    (prompt,) = done.model.asked("repair_script")
    assert "KeyError: 'region'" in prompt
    assert "script.py:3 in <module>: print(rows[0]['region'])" in prompt
    assert "'Region': 'North'" in prompt  # the locals
    assert str(tmp_path) not in prompt


def test_a_given_check_that_fails_goes_back_with_what_was_seen(way: Way, tmp_path: Path) -> None:
    wanted = (parse_expect("rows: 2"), *parse_expect_file("out.csv:rows=2"))
    writes = GOOD + "open('out.csv', 'w').write('a\\n1\\n')\n"
    both = GOOD + "open('out.csv', 'w').write('a\\n1\\n2\\n')\n"
    answers = {
        "generate_tests": [proposed()],
        "write_script": [fenced(writes)],
        "repair_script": [fenced(both)],
    }
    done = way(answers, request=asked(tmp_path, *wanted))
    assert "1" in done.model.asked("repair_script")[0].partition("out.csv")[2]
    assert done.report.verdict == "passed"
    made = Path(done.report.artifacts.made or "") / "out.csv"
    assert made.read_text() == "a\n1\n2\n"


def test_a_wrong_check_of_the_models_is_found_out_and_a_persons_is_not(
    way: Way, tmp_path: Path
) -> None:
    wrong = {"check": "stdout", "contains": "rows: 3"}
    dispute = "DISPUTE prints 'rows: 3': there are two rows\n"
    answers = {
        "generate_tests": [proposed(wrong)],
        "write_script": [fenced(GOOD)],
        "repair_script": [dispute],
        "judge_test": [fenced('{"wrong": "test", "because": "two rows are shown"}', "json")],
    }
    done = way(answers, request=asked(tmp_path))
    assert done.report.verdict == "passed"
    assert len(done.told(DisputeJudged)) == 1
    assert GOOD.splitlines()[1] not in done.model.asked("judge_test")[0]
    (dropped,) = [item for item in done.report.tests if item.outcome == "dropped"]
    assert dropped.judgement == "two rows are shown"

    answers = {
        "generate_tests": [proposed()],
        "write_script": [fenced(GOOD)],
        "repair_script": [dispute + fenced(GOOD)],
    }
    done = way(answers, request=asked(tmp_path, parse_expect("rows: 3")), max_repairs=1)
    assert done.report.verdict == "failed"
    assert not done.told(DisputeJudged)


def test_a_check_that_holds_for_a_script_that_does_nothing_is_set_aside(
    way: Way, tmp_path: Path
) -> None:
    empty = {"check": "stdout", "matches": "^$|rows"}
    answers = {"generate_tests": [proposed(empty)], "write_script": [fenced(GOOD)]}
    done = way(answers, request=asked(tmp_path))
    (aside,) = [item for item in done.report.tests if item.outcome == "dropped"]
    assert "proves nothing" in (aside.judgement or "")


def test_what_is_healthy_costs_no_call_and_needs_no_model(way: Way, tmp_path: Path) -> None:
    done = way({}, request=existing(tmp_path, GOOD))
    assert done.report.verdict == "passed"
    assert done.model.tools == []
    assert any("nothing to heal" in item.text for item in done.told(Notice))


def test_a_repair_that_drops_what_was_there_is_asked_for_again(way: Way, tmp_path: Path) -> None:
    old = "def shown(row):\n    return row['region']\n\n\n" + BROKEN.replace(
        "rows[0]['region']", "shown(rows[0])"
    )
    kept = old.replace("row['region']", "row['Region']")
    answers = {"repair_script": [fenced(GOOD), fenced(kept)]}
    done = way(answers, request=existing(tmp_path, old))
    first, second = done.model.asked("repair_script")
    assert "shown" in second.removeprefix(first)
    assert done.report.final_code == kept
    assert done.report.verdict == "passed"


def test_lines_that_were_printed_before_stay(way: Way, tmp_path: Path) -> None:
    old = "word = 'reading'\nprint(word, 'sales.csv')\n" + BROKEN
    quiet = old.replace("print(word", "if word == 'so':\n    print(word").replace(
        "region", "Region"
    )
    kept = old.replace("region", "Region")
    done = way({"repair_script": [fenced(quiet), fenced(kept)]}, request=existing(tmp_path, old))
    assert done.kinds[-2:] == ["repair", "repair"]
    assert "reading sales.csv" in done.model.asked("repair_script")[1]
    assert done.report.verdict == "passed"


def test_missing_colons_and_imports_are_fixed_without_a_model(way: Way, tmp_path: Path) -> None:
    old = "rows = list(csv.reader(open('sales.csv')))\nif rows\n    print('rows: %d' % (len(rows) - 1))\n"
    done = way({}, request=existing(tmp_path, old, parse_expect("rows: 2")))
    assert done.kinds == ["generate", "free-fix"]
    assert done.report.verdict == "passed"
    assert done.model.tools == []


def test_what_cannot_be_healed_comes_back_as_its_best_attempt(way: Way, tmp_path: Path) -> None:
    later = BROKEN.replace("region", "nothing")
    done = way(
        {"repair_script": [fenced(later)]}, request=existing(tmp_path, BROKEN), max_repairs=1
    )
    assert done.report.verdict == "failed"
    assert done.report.original == BROKEN
    assert Path(done.report.artifacts.best_code or "").name == "old.py"


def test_an_input_that_has_changed_ends_the_run(way: Way, tmp_path: Path) -> None:
    request = asked(tmp_path)
    (tmp_path / "sales.csv").write_text("other")
    done = way({}, request=request)
    assert isinstance(done.error, InputError)
    assert "has changed" in str(done.error)


def test_without_a_model_what_is_broken_ends_with_how_to_get_one(tmp_path: Path) -> None:
    import asyncio

    from greenloop.agent import CodingAgent
    from greenloop.settings import Settings

    agent = CodingAgent(Settings(home=tmp_path / "home"))
    with pytest.raises(NoModelError, match="no model is configured"):
        asyncio.run(agent.run(existing(tmp_path, BROKEN)))


def test_the_prompt_does_not_grow_with_the_number_of_attempts(way: Way, tmp_path: Path) -> None:
    tries = [BROKEN.replace("region", f"column_{n}") for n in range(12)]
    answers = {"repair_script": [fenced(item) for item in tries]}
    done = way(answers, request=existing(tmp_path, BROKEN), max_repairs=12)
    sizes = [len(item) for item in done.model.asked("repair_script")]
    assert len(sizes) >= 3
    assert max(sizes[-2:]) < sizes[0] + 2500


def test_no_model_is_asked_to_make_up_a_module_that_lies_beside(way: Way, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("X = 1\n")
    text = "import helper\n\nprint(helper.X)\n"
    done = way({}, request=existing(tmp_path, text))
    assert isinstance(done.error, InputError)
    assert "helper lies beside the script" in str(done.error)
    assert "--input helper.py" in str(done.error)


def test_an_input_that_lies_elsewhere_is_named_with_its_option(way: Way, tmp_path: Path) -> None:
    text = GOOD.replace("sales.csv", "data/sales.csv")
    done = way({"repair_script": [fenced(GOOD)]}, request=existing(tmp_path, text))
    (told,) = [item.text for item in done.told(Notice)]
    assert "sales.csv" in told
    assert "--input PATH=data/sales.csv" in told


def test_what_was_printed_before_is_a_check_that_prompts_name(way: Way, tmp_path: Path) -> None:
    done = way({"repair_script": [fenced(GOOD)]}, request=existing(tmp_path, BROKEN))
    (prompt,) = done.model.asked("repair_script")
    assert prompt.count("the script ends with status 0") == 1
    assert "the script prints what it printed before" in prompt
    assert "so that they can be wrong: `prints what it printed before`" in prompt
