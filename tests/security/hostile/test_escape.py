"""Escapes: writing to host files, mounts, links, users, capabilities, raised limits."""

import os
from typing import Any

import pytest

from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import answer_calls, is_refused
from tests.security.hostile.host_monitor import Witness
from tests.support.programs import read_program, read_table

CODE = read_program(__file__, "CODE")
REFUSED = read_table(__file__, "REFUSED")
LIMITS = "AS CPU FSIZE NOFILE CORE MSGQUEUE MEMLOCK SIGPENDING".split()
VALUES: dict[str, Any] = {
    "capabilities()": 0,
    "no_new_privileges()": 1,
    **{f"raises_limit(resource.RLIMIT_{name})": "refused" for name in LIMITS},
}
OR_REFUSED: dict[str, Any] = {
    "sticky_bits()": True,
    "set_user_programs()": os.ST_NOSUID,
}
# Without namespaces these may report success and do nothing.
IGNORED = ("os.chmod({!r}, 0o777)", "os.utime({!r}, (1, 1))", "os.utime({!r})")
BY_HANDLE = ("os.fchmod(os.open({!r}, 0), 0o777)", "os.utime(os.open({!r}, 0), (1, 1))")
# Devices that store nothing; a bind mount of /dev/null shows the flags of the host's file system.
_RW = {
    "/proc",
    "/tmp",
    "/dev/shm",
    *(f"/dev/{n}" for n in "null zero full random urandom tty".split()),
}


@pytest.fixture(scope="module")
def results(box: Sandbox, witness: Witness, spaces: bool) -> dict[str, Any]:
    pivot, umount = {"x86_64": (155, 166)}.get(os.uname().machine, (41, 39))
    code = f"PIVOT_ROOT, UMOUNT = {pivot}, {umount}\n{CODE}"
    keys = [str(item / "id_ed25519") for item in (witness.home, witness.open)]
    host_files = [f"refused({how}, {path!r})" for path in keys for how in ("write", "os.unlink")]
    ignored = [how.format(path) for path in keys for how in IGNORED]
    ignored += [how.format(os.__file__) for how in (*IGNORED, *BY_HANDLE)]
    before = state(os.__file__)
    calls = [*REFUSED, *VALUES, *OR_REFUSED, "writable_mounts()", *host_files, *ignored]
    calls.append(f"refused(os.stat, {keys[1]!r})")
    answers = answer_calls(box, code, calls)
    assert state(os.__file__) == before
    for call in ignored:
        assert "Error" in str(answers[call]) or (answers[call] is None and not spaces)
    return {
        **answers,
        "host_files": [answers[item] for item in host_files],
        "size": answers[calls[-1]],
    }


def state(path: str) -> tuple[int, int, int]:
    """Return the metadata of a file that can be changed without writing to it."""
    found = os.lstat(path)
    return found.st_mode, found.st_uid, found.st_mtime_ns


@pytest.mark.parametrize("call", REFUSED)
def test_call_is_refused(results: dict[str, Any], call: str) -> None:
    assert is_refused(results[call])


@pytest.mark.parametrize("call", VALUES)
def test_privileges_cannot_be_gained(results: dict[str, Any], call: str) -> None:
    assert results[call] == VALUES[call]


@pytest.mark.parametrize("call", OR_REFUSED)
def test_set_user_id_programs_have_no_effect(
    results: dict[str, Any], spaces: bool, call: str
) -> None:
    """Without namespaces the mounts are the host's, and no_new_privs protects."""
    if spaces:
        assert results[call] == OR_REFUSED[call]
    else:
        assert results["no_new_privileges()"] == 1


def test_file_metadata_is_visible_without_namespaces(results: dict[str, Any], spaces: bool) -> None:
    """Landlock does not hide names and sizes, as documented."""
    assert (results["size"] == "refused") == spaces


def test_host_files_cannot_be_changed(results: dict[str, Any]) -> None:
    assert results["host_files"] == ["refused"] * 4


def test_only_the_run_folders_are_writable(results: dict[str, Any], spaces: bool) -> None:
    if not spaces:
        assert is_refused(results["writable_mounts()"])
        return
    assert set(results["writable_mounts()"]) <= _RW
