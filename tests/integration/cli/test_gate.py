"""`greenloop gate`: an agent that stops is told what its change lacks, and may stop once it is mended."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from greenloop.app.gate.change import read_change
from greenloop.app.gate.run import GateRequest
from greenloop.app.gate.settings import load_base_settings, replace_project_settings
from greenloop.settings import Settings
from tests.support.git import commit_all, git
from tests.support.programs import read_program

CODE = """def total(prices):
    if any(price < 0 for price in prices):
        raise ValueError("negative price")
    return sum(prices)
"""
TESTS = read_program(__file__, "TESTS")
NEW_CODE = """

def discount(price, percent):
    return price - price * percent / 100
"""
READING = read_program(__file__, "READING")
HELPED = read_program(__file__, "HELPED")
NEGATIVE = """


def test_a_negative_price_counts():
    assert total([-1, 3]) == 2
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "shop"
    (folder / "tests").mkdir(parents=True)
    (folder / "cart.py").write_text(CODE)
    (folder / "tests/test_cart.py").write_text(TESTS)
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    commit_all(folder)
    return folder


def stop(project: Path, *options: str, **event: object) -> tuple[int, str, str]:
    """Run the gate as an agent's hook does; return status, standard output and standard error."""
    said = {"hook_event_name": "Stop", "cwd": str(project), **event}
    command = [sys.executable, "-m", "greenloop", "gate", "--time", "200", *options]
    done = subprocess.run(
        command, cwd=project, input=json.dumps(said), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def append(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


def replace(file: Path, old: str, new: str) -> None:
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_settings_are_those_of_the_commit_at_which_the_work_began(project: Path) -> None:
    request, server = GateRequest(project), Settings(min_mutation_score=0.95)
    assert replace_project_settings(server, request).min_mutation_score == 0.8
    file = project / "pyproject.toml"
    append(file, "[tool.greenloop]\nmin-mutation-score = 0.9\n")
    git(project, "commit", "-qam", "strict")
    replace(file, "0.9", "0.85")
    assert load_base_settings(request).min_mutation_score == 0.9
    assert replace_project_settings(server, request).min_mutation_score == 0.9


def test_the_same_change_gets_the_same_answer_and_no_more_blocks_than_tries(project: Path) -> None:
    replace(project / "tests/test_cart.py", "def test_total", "def check_total")
    first = stop(project, "--agent", "claude", session_id="s")
    second = stop(project, "--agent", "claude", session_id="s", stop_hook_active=True)
    assert json.loads(first[1]) == json.loads(second[1])
    assert "test_total was removed" in json.loads(first[1])["reason"]
    for _ in range(2):
        _, out, err = stop(project, "--agent", "claude", session_id="s", stop_hook_active=True)
        assert "decision" not in json.loads(out)
        assert "test_total was removed" in err  # the person is told


def test_at_a_terminal_the_status_stays_1_until_the_change_is_mended(project: Path) -> None:
    replace(project / "tests/test_cart.py", "def test_total", "def check_total")
    command = [sys.executable, "-m", "greenloop", "gate", "--time", "200"]
    _, terminal = os.openpty()
    for _ in range(3):
        assert subprocess.run(command, cwd=project, stdin=terminal, check=False).returncode == 1


def test_a_broken_test_is_named_with_its_failure(project: Path) -> None:
    replace(project / "cart.py", "return sum(prices)", "return sum(prices) + 1")
    status, out, _ = stop(project, "--agent", "text")
    assert status == 1
    assert "tests/test_cart.py::test_total fails: AssertionError" in out


def test_a_hook_that_leaves_out_a_test_is_told_by_the_test(project: Path) -> None:
    replace(project / "cart.py", "return sum(prices)", "return sum(prices) + 1")
    hook = "def pytest_collection_modifyitems(items):\n    items[:] = items[1:]\n"
    (project / "tests/conftest.py").write_text(hook)
    _, out, _ = stop(project, "--agent", "text")
    assert "test_total passed before and does not run now" in out


def test_an_expected_value_that_follows_the_code_is_to_be_explained(project: Path) -> None:
    replace(project / "cart.py", "return sum(prices)", "return sum(prices) + 0 * len(prices) + 1")
    replace(project / "tests/test_cart.py", "== 3", "== 4")
    replace(project / "tests/test_cart.py", "== 0", "== 1")
    replace(project / "tests/test_cart.py", "== 5", "== 6")
    _, out, _ = stop(project, "--agent", "text")
    assert "test_total expects another value than before: `total([1, 2]) == 3` is now" in out
    (project / "CHANGES.md").write_text("- The total has a fee of 1.\n")
    _, out, err = stop(project, "--agent", "text")
    assert "expects another value" not in out
    assert "expects another value" in err


def test_a_test_that_passes_without_the_change_explains_nothing(project: Path) -> None:
    replace(project / "cart.py", "return sum(prices)", "return sum(prices) + (len(prices) == 2)")
    replace(project / "tests/test_cart.py", "== 3", "> 0")
    append(project / "tests/test_cart.py", "\n\ndef test_one():\n    assert total([4]) == 4\n")
    _, out, _ = stop(project, "--agent", "text")
    assert "test_total asserts less than before: `total([1, 2]) == 3` is now" in out
    append(project / "tests/test_cart.py", "\n\ndef test_two():\n    assert total([1, 2]) == 4\n")
    _, out, err = stop(project, "--agent", "text")
    assert "asserts less" not in out
    assert "asserts less" in err


def test_a_new_file_of_tests_that_pass_without_the_change_explains_nothing(project: Path) -> None:
    test = "\n\ndef test_half():\n    assert cart.discount(8, 50) == 4\n"
    append(project / "cart.py", NEW_CODE)
    append(project / "tests/test_cart.py", f"\nimport cart\n{test}")
    commit_all(project)
    replace(project / "cart.py", "percent / 100", "(percent > 50) * percent / 100")
    replace(project / "tests/test_cart.py", test, "")
    new = project / "tests/test_rates.py"
    new.write_text("import cart\n\n\ndef test_all():\n    assert cart.discount(8, 100) == 0\n")
    _, out, _ = stop(project, "--agent", "text")
    assert "was rewritten: `cart.discount(8, 50) == 4` is now" in out
    append(new, "\n\ndef test_small():\n    assert cart.discount(8, 50) == 8\n")
    _, out, _ = stop(project, "--agent", "text")
    assert "was rewritten" not in out


def test_loosened_configuration_is_named_first(project: Path) -> None:
    append(project / "pyproject.toml", "addopts = \"-k 'not total'\"\n")
    _, out, _ = stop(project, "--agent", "cursor")
    message = json.loads(out)["followup_message"].splitlines()
    assert "pyproject.toml: pytest's addopts have `-k not total` now" in message[0]


def test_data_that_tests_read_and_cases_that_are_gone_are_named(project: Path) -> None:
    data = project / "tests/sums.json"
    data.write_text("[[[1, 2], 3], [[4], 4]]")
    append(project / "tests/test_cart.py", READING)
    (project / "tests/data").mkdir()
    (project / "tests/data/one.txt").write_text("1")
    commit_all(project)
    data.write_text("[[[1, 2], 3], [[4], 5]]")
    replace(project / "cart.py", "return sum(prices)", "return sum(prices) + (len(prices) == 1)")
    _, out, _ = stop(project, "--agent", "text")
    assert "test_sums fails with its old data and helpers: `tests/sums.json` is now" in out
    data.write_text("[[[1, 2], 3], [[4], 5], [[6], 7]]")  # with a case that asks for the change
    assert "old data" not in stop(project, "--agent", "text")[1]
    git(project, "checkout", "-q", "cart.py")
    data.write_text("[[[1, 2], 3]]")
    _, _, err = stop(project, "--agent", "text")  # the agent was told twice
    assert "test_sums lost 1 of its cases, which passed before: restore them" in err
    git(project, "checkout", "-q", "tests/sums.json")
    (project / "tests/data/one.txt").unlink()
    _, out, _ = stop(project, "--agent", "text")
    gone = "tests/data/one.txt is gone; the tests also pass with the data that is gone: restore it"
    assert gone in out


def test_a_helper_that_hides_what_a_test_compared_is_named(project: Path) -> None:
    append(project / "tests/test_cart.py", HELPED)
    commit_all(project)
    replace(project / "cart.py", "sum(prices)", "sum(prices) + 0.25 * (len(prices) == 3)")
    replace(project / "tests/test_cart.py", "return value", "return int(value)")
    _, out, _ = stop(project, "--agent", "text")
    assert "test_of_many fails with its old data and helpers: `tests/test_cart.py`" in out


def test_a_linked_configuration_is_compared_with_what_it_led_to(project: Path) -> None:
    (project / "hooks.py").write_text("collect_ignore = ['a.py']\n")
    (project / "conftest.py").symlink_to("hooks.py")
    commit_all(project)
    append(project / "cart.py", NEW_CODE)
    assert read_change(project, "HEAD").loosened == ()
    append(project / "hooks.py", "collect_ignore += ['b.py']\n")
    assert "conftest.py: collect_ignore" in read_change(project, "HEAD").loosened[0]


def test_what_an_agent_cannot_mend_does_not_block_it(project: Path) -> None:
    append(project / "cart.py", NEW_CODE)
    status, out, err = stop(project, "--agent", "claude", "--sandbox", "container", "--base", "no")
    assert status == 0
    assert "decision" not in json.loads(out)
    assert "the gate did not run: " in err


def test_a_refactoring_whose_tests_notice_its_faults_may_stop(project: Path) -> None:
    replace(project / "cart.py", "any(price < 0 for price in prices)", "min(prices, default=0) < 0")
    assert stop(project, "--agent", "claude") == (0, "", "")


def test_tests_in_another_form_that_notice_the_same_faults_replace_others(project: Path) -> None:
    replace(project / "cart.py", "any(price < 0 for price in prices)", "min(prices, default=0) < 0")
    file = project / "tests/test_cart.py"
    file.write_text(read_program(__file__, "IN_CLASSES"))
    status, out, err = stop(project, "--agent", "text")
    assert (status, out) == (0, "")
    assert "test_total was removed" in err  # the person is told
    replace(file, "([1, 2], 3), ([], 0), ([0, 5], 5)", "([], 0)")
    assert "test_total was removed" in stop(project, "--agent", "text")[1]


def test_neither_a_commit_nor_broken_settings_hide_a_change(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = project.parent / "session.jsonl"
    replace(project / "tests/test_cart.py", "== 3", "> 0")
    append(project / "pyproject.toml", "[tool.greenloop\n")
    begun = git(project, "log", "--format=%cI", "-1")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2038-01-01T00:00:00Z")
    git(project, "commit", "-qam", "tidy")
    transcript.write_text(json.dumps({"timestamp": begun.strip()}))
    event = {"session_id": "s", "transcript_path": str(transcript)}
    _, out, _ = stop(project, "--agent", "claude", **event)
    assert "test_total asserts less than before" in json.loads(out)["reason"]


def test_a_test_of_what_the_code_did_before_may_be_replaced(project: Path) -> None:
    replace(project / "cart.py", CODE, "def total(prices):\n    return sum(prices)\n")
    file = project / "tests/test_cart.py"
    kept = [part for part in file.read_text().split("\n\n\n") if "raises" not in part]
    file.write_text("\n\n\n".join(kept).rstrip() + "\n")
    assert "was removed" in stop(project, "--agent", "text")[1]
    append(file, NEGATIVE)
    assert "was rewritten" in stop(project, "--agent", "text")[1]
    (project / "CHANGES.md").write_text("- A negative price is no longer an error.\n")
    status, out, err = stop(project, "--agent", "text")
    assert (status, out) == (0, "")
    assert "was rewritten" in err  # the person is told
