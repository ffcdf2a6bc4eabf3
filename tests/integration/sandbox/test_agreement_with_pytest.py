"""Report of a run, compared with the JUnit report of pytest on the same files."""

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
class Reported:
    """Outcomes by JUnit name of a test, and for each failure its kind and first line."""

    outcomes: dict[str, str]
    failures: list[tuple[str, str]]


def run_pytest(folder: Path, files: dict[str, str], *options: str) -> tuple[Reported, int]:
    """Run `python -m pytest` on the files; return its JUnit report and exit status."""
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
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=60)
    return junit((folder / "report.xml").read_bytes()), process.returncode


def junit(report: bytes) -> Reported:
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
    return Reported(outcomes, sorted(failures))


def _outcome(child: ET.Element) -> str:
    if child.tag != "skipped":
        return {"failure": "failed"}.get(child.tag, child.tag)
    return "xfailed" if child.get("type") == "pytest.xfail" else "skipped"


def _worst(outcomes: set[str]) -> str:
    return next(
        item for item in ("error", "failed", "xfailed", "skipped", "passed") if item in outcomes
    )


def _first(message: str) -> str:
    """Return the first line, without what differs between two runs or is only in JUnit."""
    inner = _WHEN.match(message)
    message = inner[1] if inner else message
    fixture = _FIXTURE.search(message)  # pytest reports it in a later line
    line = fixture[0] if fixture else message.split("\n")[0].removesuffix('"')
    line = line.removeprefix("AssertionError: ") if _ASSERT.match(line) else line
    kind, colon, text = line.partition(":")
    shown = f"{kind.rpartition('.')[2]}{colon}{text}" if " " not in kind else line
    return _VARIES.sub(lambda found: found[1] or "", shown).strip().removesuffix(":")


def read_run(run: TestRun) -> Reported:
    outcomes = {
        _address(item.test): "error" for item in run.failures if item.phase == "collect"
    } | {_address(item.id): item.outcome.replace("xpassed", "passed") for item in run.tests}
    return Reported(
        outcomes, sorted((_address(item.test), _first_line(item)) for item in run.failures)
    )


def _address(name: str) -> str:
    """Return a node id in JUnit's form."""
    path, bracket, parameters = name.partition("[")
    file, *names = path.split("::")
    parts = [file.removesuffix(".py").replace("/", "."), *names]
    return "::".join(filter(None, [".".join(parts[:-1]), parts[-1] + bracket + parameters]))


def _first_line(failure: Failure) -> str:
    if failure.phase == "collect":
        return "collection failure"
    if failure.message.startswith("[XPASS(strict)]"):
        return "[XPASS(strict)]"
    return _first(f"{failure.exception}: {_escape(failure.message)}")


def _escape(text: str) -> str:
    text = re.sub(r"[\x00-\x08\x0b-\x1f]", lambda found: f"#x{ord(found[0]):02X}", text)
    return text.replace("\\ud800", "#xD800")


def in_sandbox(box: Sandbox, files: dict[str, str], *, doctests: bool = False) -> TestRun:
    tests = [TestFile(name, text) for name, text in sorted(files.items())]
    return box.run_tests(pytest_corpus.SOLUTION, tests, module="solution", doctests=doctests)


def differences(left: Iterable[object], right: Iterable[object]) -> tuple[set[object], set[object]]:
    return set(left) - set(right), set(right) - set(left)


@pytest.fixture(scope="module")
def pytests_own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reported, int]:
    return run_pytest(tmp_path_factory.mktemp("plain"), pytest_corpus.files())


@pytest.fixture(scope="module")
def run(box: Sandbox) -> TestRun:
    if box.info.backend in ("landlock", "container"):
        pytest.skip(
            "the same code of reported_by_run runs the tests there; the corpus needs child processes"
        )
    return in_sandbox(box, pytest_corpus.files())


def test_ids_and_outcomes_equal_those_of_pytest(
    run: TestRun, pytests_own: tuple[Reported, int]
) -> None:
    reported, status = pytests_own
    assert len(pytest_corpus.files()) + len(pytest_corpus.alone()) > 55
    assert set(reported.outcomes.values()) == {"passed", "failed", "error", "skipped", "xfailed"}
    assert (run.ending, run.exit_status) == ("finished", status)
    assert differences(read_run(run).outcomes.items(), reported.outcomes.items()) == (
        set(),
        set(),
    )


@pytest.mark.slow
def test_failures_begin_as_in_pytest(run: TestRun, pytests_own: tuple[Reported, int]) -> None:
    assert differences(read_run(run).failures, pytests_own[0].failures) == (set(), set())


@pytest.fixture(scope="module")
def pytests_doctests(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reported, int]:
    files = {"test_docstring.py": pytest_corpus.files()["test_docstring.py"]}
    folder = tmp_path_factory.mktemp("doctests")
    return run_pytest(folder, files, "--doctest-modules", "solution.py")


@pytest.mark.slow
def test_doctests_equal_those_of_pytest(
    box: Sandbox, pytests_doctests: tuple[Reported, int]
) -> None:
    reported, status = pytests_doctests
    files = {"test_docstring.py": pytest_corpus.files()["test_docstring.py"]}
    run = in_sandbox(box, files, doctests=True)
    assert (run.ending, run.exit_status) == ("finished", status)
    assert differences(read_run(run).outcomes.items(), reported.outcomes.items()) == (
        set(),
        set(),
    )


@pytest.mark.parametrize("name", pytest_corpus.alone())
def test_aborted_run_is_reported_with_the_status_of_pytest(
    box: Sandbox, tmp_path: Path, name: str
) -> None:
    """pytest's own report has no entry for it, or only a general error."""
    files = {name: pytest_corpus.alone()[name]}
    reported, status = run_pytest(tmp_path, files)
    run = in_sandbox(box, files)
    assert (run.ending, run.exit_status) == ("finished", status)
    assert len(run.failures) == 1
    reported = {key: value for key, value in reported.outcomes.items() if key.startswith("test_")}
    assert reported.items() <= read_run(run).outcomes.items()
    assert not run.passed
