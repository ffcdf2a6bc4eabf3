"""State of descriptors and files: what a run sets, neither the next run nor the machine finds."""

import os
from typing import Any

import pytest

from greenloop.grading.mutation import generate_mutants
from greenloop.sandbox.base import Sandbox
from greenloop.testsuite import TestFile
from tests.security.hostile.conftest import PRELUDE, Limited, answer_calls, select_tested
from tests.support.programs import read_program

pytestmark = pytest.mark.parametrize(
    "box", select_tested("bubblewrap", "native", "landlock"), indirect=True, scope="session"
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SETTINGS = read_program(__file__, "SETTINGS")
FILES = int(os.environ.get("HOSTILE_FILES", "1"))  # of each folder
RUN = PRELUDE + SETTINGS + read_program(__file__, "SEEN_AND_CHANGED")


def test_descriptors_keep_nothing_for_the_next_run(box: Sandbox) -> None:
    before = answer_calls(box, RUN, ["descriptors()"])["descriptors()"]
    during = answer_calls(box, RUN, ["set_all()"])["set_all()"]
    after = answer_calls(box, RUN, ["descriptors()"])["descriptors()"]
    assert during != before  # the flags were set
    assert after == before


def test_nothing_visible_can_be_changed(box: Sandbox, limited: Limited, spaces: bool) -> None:
    code = f"OWN_ROOT, FILES = {spaces}, {FILES}\n{RUN}"
    before = [_machine_state(path) for path in DEVICES]
    with limited(timeout_s=300):
        found, count = answer_calls(box, code, ["changed()"])["changed()"]
    assert found == []
    assert count > 1000
    assert [_machine_state(path) for path in DEVICES] == before


def _machine_state(path: str) -> list[Any]:
    found = os.stat(path)
    return [found.st_mode, found.st_uid, found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns]


# A mutant of `step` sets a flag on descriptors; the test fails where one is set already.
MODULE = read_program(__file__, "MODULE")
MODULE_TESTS = read_program(__file__, "MODULE_TESTS")


def mutant_outcomes(box: Sandbox, own: bool) -> set[str]:
    """Return how mutants of `step` end that set a flag on these descriptors."""
    code = f"OWN = {own}\n{MODULE}"
    edits = [item.edit for item in generate_mutants(code) if item.function == "step"]
    assert len(edits) > 2
    tests = [TestFile("test_probe.py", MODULE_TESTS)]
    runs = box.run_mutants(code, tests, edits, module="probe", budget_s=60)
    return {item.outcome for item in runs.runs}


@pytest.fixture
def forks(spaces: bool) -> None:
    if not spaces:
        pytest.skip("mutants need processes, which there are none of without namespaces")


@pytest.mark.usefixtures("forks")
def test_forks_of_collected_tests_do_not_share_the_descriptors_of_the_guest(box: Sandbox) -> None:
    assert mutant_outcomes(box, own=False) == {"survived"}


@pytest.mark.usefixtures("forks")
def test_forks_of_collected_tests_share_what_the_module_opened_itself(box: Sandbox) -> None:
    """A test that fails on the original for what a mutant left behind tells nothing of a mutant."""
    assert mutant_outcomes(box, own=True) == {"survived", "error"}
