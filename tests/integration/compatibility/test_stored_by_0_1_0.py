"""What greenloop 0.1.0 left on disk is still read: reports, runs, batches, evaluations, lock files.

Only the command line is used. `tests/fixtures/stored_by_0_1_0/make.py`
says how the files were made.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from greenloop.cli.main import app


def _root() -> Path:
    """The checkout, wherever this file stands in `tests/`."""
    return next(path for path in Path(__file__).parents if (path / "pyproject.toml").is_file())


ROOT = _root()
STORED = ROOT / "tests" / "fixtures" / "stored_by_0_1_0" / "project"
PROJECT = "/home/user/project"
REPORTS = sorted(path.name for path in (STORED / "reports").iterdir())
VERDICTS = {
    "make": "verified",
    "make_disputed": "verified",
    "check_weak": "passed",
    "check_differing": "passed",
    "heal_text_tools": "verified",
    "heal_without_model": "passed",
    "script": "passed",
}
# As the batch and the evaluations were made: no answer is left for more tests.
AS_MADE = {"GREENLOOP_HARDENING_ROUNDS": "0"}


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Project:
    """A user's folder with what 0.1.0 left in it."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder, self._captured = folder, captured

    def run(self, *words: str, **environment: str) -> Ended:
        """A command, in this process and in the folder."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in [item for item in os.environ if item.startswith("GREENLOOP_")]:
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                app(list(words), prog_name="greenloop")
        out, err = self._captured.readouterr()
        return Ended(int(ended.value.code or 0), out, err)

    def report(self, place: str) -> Any:
        return json.loads((self.folder / place / "report.json").read_text("utf-8"))

    def calls(self, place: str) -> int:
        """How many answers the log of a run has."""
        return len((self.folder / place / "answers.jsonl").read_text("utf-8").splitlines())


@pytest.fixture
def project(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Project:
    """A copy whose absolute paths are those of the copy."""
    folder = tmp_path / "project"
    shutil.copytree(STORED, folder)
    for path in (item for item in folder.rglob("*") if item.is_file()):
        text = path.read_text("utf-8")
        if PROJECT in text:
            path.write_text(text.replace(PROJECT, str(folder)), "utf-8")
    return Project(folder, capfd)


def test_every_report_has_its_verdict_here() -> None:
    assert sorted(VERDICTS) == REPORTS


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_shown(name: str, project: Project) -> None:
    """As text, as a page and in the forms for other programs."""
    place = f"reports/{name}"
    shown = project.run("report", place)
    assert shown.status == 0, shown.err
    assert VERDICTS[name] in shown.out.lower()
    forms = {"--html": "page.html", "--junit": "junit.xml", "--markdown": "short.md"}
    words = [word for form in {**forms, "--sarif": "found.sarif"}.items() for word in form]
    written = project.run("report", place, *words)
    assert written.status == 0, written.err
    for file in forms.values():
        assert (project.folder / file).read_text("utf-8").strip(), file
    page = (project.folder / "page.html").read_text("utf-8")
    assert VERDICTS[name] in page.lower()
    assert json.loads((project.folder / "found.sarif").read_text("utf-8"))["runs"]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_keeps_what_it_says(name: str, project: Project) -> None:
    """With `--json`: the keys of the tutorials as they were, and each piece of evidence."""
    before, ended = project.report(f"reports/{name}"), project.run(
        "report", f"reports/{name}", "--json"
    )
    assert ended.status == 0, ended.err
    after = ended.json
    for key in ("final_code", "test_code", "tests_passed", "test_output", "verdict"):
        assert after[key] == before[key], key
    assert after["repairs"] == before["iterations"]
    assert after["iterations"] == before["iterations"] + (1 if before["attempts"] else 0)
    assert after["specification"] == before["specification"]
    assert [item["outcome"] for item in after["tests"]] == [
        item["outcome"] for item in before["tests"]
    ]
    new = after["evidence"]
    for old_name, new_name in RENAMED.items():
        old_value = before["evidence"][old_name]
        value = new.get(new_name, new.get(old_name))
        assert (value is None) == (old_value is None), old_name
        if value is not None:
            assert value["reached"] == old_value["reached"]
            assert sorted(_plain(value)) == sorted(_plain(old_value))
    for same in ("mutation", "coverage", "flakiness", "red_phase", "integrity"):
        assert _keep(new[same], before["evidence"][same]) == before["evidence"][same], same


def _keep(new: object, old: object) -> object:
    """Return the part of a piece of evidence that 0.1.0 wrote too: keys may be added."""
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        return [_keep(*pair) for pair in zip(new, old, strict=True)]
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: _keep(new[key], value) for key, value in old.items() if key in new}
    return new


RENAMED = {
    "hollow_run": "empty_bodies",
    "controls": "assertion_mutation",
    "outside": "memorization",
    "sealed": "held_out",
}


def _plain(value: dict[str, Any]) -> list[str]:
    """What a piece of evidence says, whatever its keys are called; what is empty left out."""
    return [
        json.dumps(item, sort_keys=True) for item in value.values() if item not in ("", [], None)
    ]


def test_what_was_found_is_told(project: Project) -> None:
    """The findings that the renamed keys hold: a reader that drops them would show nothing."""
    weak = project.run("report", "reports/check_weak")
    assert "square" in weak.out
    assert "test_all_are_even" in weak.out
    differing = project.run("report", "reports/check_differing")
    assert "square(3)" in differing.out
    disputed = project.run("report", "reports/make_disputed", "--json").json
    assert disputed["disputes"]
    origins = {item["origin"] for item in disputed["tests"]}
    assert origins & {"sealed", "held_out"}
    assert project.run("report", "reports/heal_without_model", "--json").json["patches"]


def test_the_batch_is_shown(project: Project) -> None:
    """`report` of its folder as text, as a page and as a summary."""
    shown = project.run("report", "batch")
    assert shown.status == 0, shown.err
    assert "2 of 3 specifications reached" in shown.out
    page = project.run("report", "batch", "--html", "batch/again.html")
    assert page.status == 0, page.err
    text = (project.folder / "batch" / "again.html").read_text("utf-8")
    assert all(name in text for name in ("clamp", "initials", "runs"))
    summary = project.run("report", "batch", "--markdown", "-")
    assert summary.status == 0, summary.err
    assert "clamp" in summary.out


def test_the_batch_goes_on(project: Project) -> None:
    """Two of three are done; of the third only the review is asked for, the rest is in its log."""
    words = ("batch", "specs", "-o", "src", "--run-dir", "batch", "-j", "1", "--json")
    (run,) = (project.folder / "batch" / "runs").glob("runs-*")
    place = str(run.relative_to(project.folder))
    assert project.calls(place) == 3
    ended = project.run(*words, "--model", "replay:rest.jsonl", **AS_MADE)
    assert ended.status == 0, ended.err
    totals = ended.json
    assert (totals["reached"], totals["unchanged"], totals["broken_off"]) == (3, 2, 0)
    assert project.calls(place) == 4
    assert (project.folder / "src" / "runs.greenloop.json").is_file()
    again = project.run(*words, "--model", "replay:rest.jsonl", **AS_MADE)
    assert (again.status, again.json["unchanged"], again.json["calls"]) == (0, 3, 0)


def test_the_batch_sees_what_was_changed_by_hand(project: Project) -> None:
    code = project.folder / "src" / "clamp.py"
    code.write_text(code.read_text("utf-8") + "# mine\n", "utf-8")
    specification = project.folder / "specs" / "clamp.md"
    specification.write_text("Another text.\n" + specification.read_text("utf-8"), "utf-8")
    words = ("batch", "specs", "-o", "src", "--run-dir", "batch", "-j", "1", "--json")
    ended = project.run(*words, "--model", "replay:rest.jsonl", **AS_MADE)
    assert ended.json["refused"] == 1, ended.err
    assert code.read_text("utf-8").endswith("# mine\n")


def test_evaluations_are_compared(project: Project) -> None:
    """A folder with what `--json` printed."""
    shown = project.run("eval", "--compare", "evals/a", "evals/b.json")
    assert shown.status == 0, shown.err
    found = project.run("eval", "--compare", "evals/a", "evals/b.json", "--json").json
    assert (found["tasks"], found["both"], found["a_alone"]) == (2, 1, ["initials"])
    assert (found["b_alone"], found["left_out"]) == ([], [])


def test_an_evaluation_asks_nothing_again(project: Project) -> None:
    words = ("eval", "tasks.jsonl", "-j", "1", "--max-repairs", "0", "--model", "replay:a.jsonl")
    before = (project.folder / "evals" / "a" / "eval.jsonl").read_text("utf-8")
    ended = project.run(*words, "--run-dir", "evals/a", "--json", **AS_MADE)
    assert ended.status == 0, ended.err
    assert ended.json["pass_at_1"]["count"] == 2
    assert (project.folder / "evals" / "a" / "eval.jsonl").read_text("utf-8") == before


@pytest.mark.parametrize(
    ("name", "held", "verdict"),
    [("early", 2, "passed"), ("hardening", 5, "passed"), ("script", 1, "passed")],
)
def test_a_killed_run_goes_on(name: str, held: int, verdict: str, project: Project) -> None:
    """The recording has no usable answer but those that the log lacks: none is asked for again.

    It has none for a second reading, so that nothing is `verified`.
    """
    place = f"interrupted/{name}"
    log = project.folder / place / "answers.jsonl"
    before = log.read_text("utf-8")
    total = len((project.folder / f"{place}.jsonl").read_text("utf-8").splitlines())
    assert project.calls(place) == held
    ended = project.run("resume", place, "--model", f"replay:{place}.jsonl", "--json")
    assert ended.status == 0, ended.err
    report = ended.json
    assert report["verdict"] == verdict, report["reasons"]
    assert report["usage"]["calls"] <= total  # no hardening where nothing falls short
    after = log.read_text("utf-8")
    assert after.startswith(before)
    assert after.count("\n") <= total


def test_the_locks_hold(project: Project) -> None:
    """Digests and grade; and a change is noticed."""
    digests = project.run("verify", "src", "--digests-only")
    assert digests.status == 0, digests.err
    whole = project.run("verify", "src")
    assert whole.status == 0, whole.out + whole.err
    code = project.folder / "src" / "clamp.py"
    code.write_text(code.read_text("utf-8").replace("max(low", "max(0 + low"), "utf-8")
    changed = project.run("verify", "src", "--digests-only")
    assert changed.status == 1
    assert "clamp.py" in changed.out + changed.err
