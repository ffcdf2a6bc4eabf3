"""What a run reports against what pytest itself says of the same files, in its own JUnit report."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from greenloop.records import Failure, TestRun
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from tests.integration.sandbox import pytest_corpus

_VARIES = re.compile(r"(maximum recursion depth exceeded).*|0x[0-9a-f]+|/\S*/")
_FIXTURE, _ASSERT = re.compile("fixture '.*' not found"), re.compile("AssertionError: assert ")
_WHEN = re.compile(r'^failed on (?:setup|teardown) with "(.*?)"?$', re.S)


@dataclass(frozen=True)
class Said:
    """Outcomes by JUnit's name of a test, and per failure its kind and first line."""

    outcomes: dict[str, str]
    failures: list[tuple[str, str]]


def plain(folder: Path, files: dict[str, str], *options: str) -> tuple[Said, int]:
    """A plain `python -m pytest` on the files: its JUnit report and exit status."""
    for name, text in {
        **files,
        "solution.py": pytest_corpus.SOLUTION,
        "pytest.ini": "[pytest]",
    }.items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    targets = sorted(name for name in files if name != "conftest.py")
    command = [sys.executable, "-m", "pytest", "-q", "--junitxml=report.xml", "--rootdir=."]
    command += ["--continue-on-collection-errors", "-p", "no:cacheprovider", *options, *targets]
    environment = {"PATH": os.defpath, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "LANG": "C.UTF-8"}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=60)
    return junit((folder / "report.xml").read_bytes()), ended.returncode


def junit(report: bytes) -> Said:
    outcomes: dict[str, str] = {}
    failures = []
    for case in ET.fromstring(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}".removeprefix("::")
        found = {_outcome(child) for child in case if child.tag in ("failure", "error", "skipped")}
        outcomes[name] = _worst({outcomes.get(name, "passed"), *found})
        for child in case:
            message = child.get("message") or ""
            if child.tag in ("failure", "error") and "failed subtest" not in message:
                failures.append((name, _first(message)))
    return Said(outcomes, sorted(failures))


def _outcome(child: ET.Element) -> str:
    if child.tag != "skipped":
        return {"failure": "failed"}.get(child.tag, child.tag)
    return "xfailed" if child.get("type") == "pytest.xfail" else "skipped"


def _worst(outcomes: set[str]) -> str:
    return next(
        item for item in ("error", "failed", "xfailed", "skipped", "passed") if item in outcomes
    )


def _first(message: str) -> str:
    """The first line, without what differs between two runs or is only said by JUnit."""
    inner = _WHEN.match(message)
    message = inner[1] if inner else message
    fixture = _FIXTURE.search(message)  # pytest says so in a later line
    line = fixture[0] if fixture else message.split("\n")[0].removesuffix('"')
    line = line.removeprefix("AssertionError: ") if _ASSERT.match(line) else line
    kind, colon, text = line.partition(":")
    shown = f"{kind.rpartition('.')[2]}{colon}{text}" if " " not in kind else line
    return _VARIES.sub(lambda found: found[1] or "", shown).strip().removesuffix(":")


def ours(run: TestRun) -> Said:
    outcomes = {
        _address(item.test): "error" for item in run.failures if item.phase == "collect"
    } | {_address(item.id): item.outcome.replace("xpassed", "passed") for item in run.tests}
    return Said(outcomes, sorted((_address(item.test), _said(item)) for item in run.failures))


def _address(name: str) -> str:
    """A node id as JUnit has it."""
    path, bracket, parameters = name.partition("[")
    file, *names = path.split("::")
    parts = [file.removesuffix(".py").replace("/", "."), *names]
    return "::".join(filter(None, [".".join(parts[:-1]), parts[-1] + bracket + parameters]))


def _said(failure: Failure) -> str:
    if failure.phase == "collect":
        return "collection failure"
    if failure.message.startswith("[XPASS(strict)]"):
        return "[XPASS(strict)]"
    return _first(f"{failure.exception}: {_escaped(failure.message)}")


def _escaped(text: str) -> str:
    text = re.sub(r"[\x00-\x08\x0b-\x1f]", lambda found: f"#x{ord(found[0]):02X}", text)
    return text.replace("\\ud800", "#xD800")


def in_sandbox(box: Sandbox, files: dict[str, str], *, doctests: bool = False) -> TestRun:
    tests = [TestFile(name, text) for name, text in sorted(files.items())]
    return box.run_tests(pytest_corpus.SOLUTION, tests, module="solution", doctests=doctests)


def differences(left: Iterable[object], right: Iterable[object]) -> tuple[set[object], set[object]]:
    return set(left) - set(right), set(right) - set(left)


@pytest.fixture(scope="module")
def pytests_own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, int]:
    return plain(tmp_path_factory.mktemp("plain"), pytest_corpus.files())


@pytest.fixture(scope="module")
def run(box: Sandbox) -> TestRun:
    if box.info.backend in ("landlock", "container"):
        pytest.skip("the same code of ours runs the tests there; the corpus needs child processes")
    return in_sandbox(box, pytest_corpus.files())


def test_the_corpus_is_varied(pytests_own: tuple[Said, int]) -> None:
    assert len(pytest_corpus.files()) + len(pytest_corpus.alone()) > 55
    assert set(pytests_own[0].outcomes.values()) == {
        "passed",
        "failed",
        "error",
        "skipped",
        "xfailed",
    }


@pytest.mark.slow
def test_ids_and_outcomes_are_those_of_pytest(run: TestRun, pytests_own: tuple[Said, int]) -> None:
    said, status = pytests_own
    assert (run.ending, run.exit_status) == ("finished", status)
    assert differences(ours(run).outcomes.items(), said.outcomes.items()) == (set(), set())


@pytest.mark.slow
def test_failures_begin_as_pytest_shows_them(run: TestRun, pytests_own: tuple[Said, int]) -> None:
    assert differences(ours(run).failures, pytests_own[0].failures) == (set(), set())


@pytest.fixture(scope="module")
def pytests_doctests(tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, int]:
    files = {"test_docstring.py": pytest_corpus.files()["test_docstring.py"]}
    folder = tmp_path_factory.mktemp("doctests")
    return plain(folder, files, "--doctest-modules", "solution.py")


@pytest.mark.slow
def test_doctests_are_those_of_pytest(box: Sandbox, pytests_doctests: tuple[Said, int]) -> None:
    said, status = pytests_doctests
    files = {"test_docstring.py": pytest_corpus.files()["test_docstring.py"]}
    run = in_sandbox(box, files, doctests=True)
    assert (run.ending, run.exit_status) == ("finished", status)
    assert differences(ours(run).outcomes.items(), said.outcomes.items()) == (set(), set())


@pytest.mark.parametrize("name", pytest_corpus.alone())
def test_what_ends_the_run_is_told_and_the_status_is_pytests(
    box: Sandbox, tmp_path: Path, name: str
) -> None:
    """pytest's own report has nothing of it, or only that something went wrong."""
    files = {name: pytest_corpus.alone()[name]}
    said, status = plain(tmp_path, files)
    run = in_sandbox(box, files)
    assert (run.ending, run.exit_status) == ("finished", status)
    assert len(run.failures) == 1
    reported = {key: value for key, value in said.outcomes.items() if key.startswith("test_")}
    assert reported.items() <= ours(run).outcomes.items()
    assert not run.passed
