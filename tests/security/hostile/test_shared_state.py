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
RUN = PRELUDE + SETTINGS + """

def set_all():
    set_descriptors(range(1024))
    return descriptors()


def visible():
    'Each folder that can be seen with some of its files, but no processes, and not those of the run.'
    skipped = {"/tmp", "/dev/shm", os.path.dirname(TMP)}
    tops = [sys.base_prefix, *sys.path, "/dev", "/usr", "/etc"]  # "/" cannot be listed everywhere
    tops = [item for item in tops if not item.startswith(os.path.dirname(TMP))]
    for top in ["/"] if OWN_ROOT else tops:
        for folder, folders, files in os.walk(top):
            yield folder
            folders[:] = [
                name for name in folders if os.path.join(folder, name) not in skipped
                and not (folder == "/proc" and (name.isdecimal() or "self" in name))
            ]
            for name in files if folder == "/dev" else files[:FILES]:
                yield os.path.join(folder, name)


def state(path):
    found = os.lstat(path)
    kept = [found.st_mode, found.st_uid, found.st_gid]
    if not path.startswith("/proc"):  # made when it is looked at; a link more for each process
        kept += [found.st_nlink, found.st_size]
        kept += [found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns]
    return kept


def change(path):
    mode = os.lstat(path).st_mode
    attempt(lambda: os.utime(path, follow_symlinks=False))
    attempt(lambda: os.utime(path, (1, 1), follow_symlinks=False))
    attempt(lambda: os.chmod(path, (mode ^ 0o200) & 0o7777)) if not is_link(mode) else None
    attempt(os.lchown, path, os.getuid(), os.getgid())
    attempt(lambda: os.setxattr(path, "user.left", b"1", follow_symlinks=False))
    attempt(os.link, path, TMP + "/linked")


def is_link(mode):
    return mode & 0o170000 == 0o120000


def changed():
    'What could be changed of all that can be seen, and how much that is.'
    found, count = [], 0
    for path in visible():
        try:
            before = state(path)
            change(path)
            if state(path) != before:
                found.append(path)
        except FileNotFoundError:
            continue
        count += 1
    return [found[:20], count]
"""


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
