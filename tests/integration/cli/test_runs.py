"""Runs that are kept: their list, their removal, what is written later, and words that are no text."""

import json
import os
import time
from pathlib import Path

import pytest

from greenloop.records import Artifacts, Report
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.integration.cli.conftest import Run
from tests.support.programs import read_table
from tests.support.reports import build_make_report, build_refused_report


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def keep_run(text: str, report: Report | None, age_s: float = 0) -> RunDirectory:
    """Keep a run with a report; without one it is as a killed one."""
    directory = RunDirectory.create(Path(".greenloop"), text)
    directory.save_request(MakeRequest(specification=text))
    if report is not None:
        code, tests = directory.best_dir / "durations.py", directory.best_dir / "test_durations.py"
        directory.save_best({code.name: report.final_code, tests.name: report.test_code})
        places = Artifacts(run_dir=str(directory.path), best_code=str(code), best_tests=str(tests))
        directory.save_report(report.model_copy(update={"artifacts": places}))
    for path in directory.path.iterdir():
        os.utime(path, (time.time() - age_s,) * 2)
    return directory


def interrupted_report() -> Report:
    return build_refused_report().model_copy(update={"reasons": ("ended early: interrupted",)})


def test_runs_are_listed_from_the_latest_on(run: Run) -> None:
    keep_run("parse durations", build_make_report(), 7_300)
    keep_run("sort names", interrupted_report(), 100)
    keep_run("count words", None)
    status, out, _ = run("runs")
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    assert [row[0] for row in rows] == ["interrupted", "interrupted", build_make_report().verdict]
    assert rows[2][1:3] == ["2", "hours"]
    assert "parse durations" in out.splitlines()[2]
    assert [item["text"] for item in json.loads(run("runs", "--json")[1])][1] == "sort names"


def test_old_runs_and_packages_are_removed_but_not_unasked(run: Run, folder: Path) -> None:
    old, new = keep_run("old", build_make_report(), 9 * 86_400), keep_run("new", None)
    packages = folder / "cache" / "greenloop" / "packages" / "alpha-1"
    packages.mkdir(parents=True)
    (packages / "manifest.json").write_text("{}")
    os.utime(packages / "manifest.json", (0, 0))
    status, _, err = run("runs", "--prune")
    assert (status, "--yes needs a terminal" in err) == (2, True)
    with old.lock():  # a process works on it
        out = run("runs", "--prune", "--yes")[1]
    assert "removed 1 folder, 0 kB, with 1 package set of all projects in cache/" in out
    assert old.path.exists()
    status, out, _ = run("runs", "--prune", "--yes")
    assert (status, out.splitlines()[-1].startswith("removed 1 folder,")) == (0, True)
    assert (old.path.exists(), new.path.exists(), packages.exists()) == (False, True, False)


def test_resume_takes_the_latest_interrupted_run(run: Run) -> None:
    assert "no run in .greenloop/runs was interrupted" in run("resume")[2]
    keep_run("done", build_make_report())
    waiting = keep_run("stopped", None, 50)
    status, _, err = run("resume", "--model", "replay:none.jsonl")
    assert (status, "none.jsonl cannot be read" in err) == (2, True)
    assert waiting.request_file.exists()


def test_code_and_tests_are_written_later(run: Run) -> None:
    report = build_make_report()
    keep_run("parse durations", report)
    status, out, err = run("report", "--write", ".", "--code")
    assert (status, out, err.count("greenloop: wrote ")) == (0, report.final_code, 2)
    assert Path("durations.py").read_text() == report.final_code
    Path("durations.py").write_text("mine\n")
    status, _, err = run("report", "--write", ".")
    assert (status, "was edited since it was graded" in err) == (2, True)
    here = next(Path(".greenloop/runs").iterdir()).rename("moved")  # as an artifact of CI
    Path("new").mkdir()
    assert run("report", "--write", "new", str(here))[0] == 0
    assert list(Path(".greenloop/runs").iterdir()) == []


@pytest.mark.parametrize(("arguments", "said"), read_table(__file__, "what_is_no_text"))
def test_what_is_no_text_is_refused_before_anything_is_made(
    run: Run, folder: Path, arguments: list[str], said: str
) -> None:
    status, out, err = run(*arguments)
    assert (status, out, said in err) == (2, "", True), err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "words", [["help"], ["help", "check"], ["help", "version"], ["version"], ["-V"], ["-h"]]
)
def test_help_and_version_have_the_names_that_people_try(run: Run, words: list[str]) -> None:
    status, out, _ = run(*words)
    assert (status, out.startswith(("Usage: greenloop", "greenloop "))) == (0, True)


@pytest.mark.parametrize("wrong", [["--sandbox", "bogus"], ["--prompts", "nowhere"]])
def test_a_wrong_option_leaves_no_run(run: Run, wrong: list[str]) -> None:
    Path("a.jsonl").write_text("")
    status, _, _ = run("make", "Write f(n) that doubles n", "--model", "replay:a.jsonl", *wrong)
    assert status in (2, 4)
    assert list(Path(".greenloop/runs").glob("*")) == []
