"""Secrets of the host: keys, environments, other processes, system files."""

import os
from pathlib import Path
from typing import Any

import pytest

import greenloop
from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import answer_calls, is_refused
from tests.security.hostile.host_monitor import Witness
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
REFUSED = [
    "refused(read, '/proc/1/environ')",
    "refused(read, '/proc/1/mem')",
    "refused(read, '/proc/1/maps')",
    "refused(read, '/proc/1/auxv')",
    "refused(os.listdir, '/proc/1/fd')",
    "refused(os.listdir, '/proc/1/map_files')",
    "refused(os.listdir, '/proc/1/root')",
    "refused(os.listdir, '/proc/1/cwd')",
    "refused(os.readlink, '/proc/1/exe')",
    "refused(os.readlink, '/proc/1/ns/net')",
    "refused(read, '/proc/1/stack')",
    "refused(read, '/proc/1/syscall')",
    f"refused(read, '/proc/{os.getpid()}/environ')",
    f"refused(read, '/proc/{os.getppid()}/environ')",
    "refused(read, '/etc/shadow')",
    "refused(read, '/etc/passwd')",
    "refused(os.listdir, os.path.expanduser('~root/.ssh'))",
    "refused(os.listdir, '/home')",
    "refused(os.listdir, '/work')",
    "refused(os.listdir, '/var')",
    "refused(os.listdir, '/sys')",
    "refused(os.listdir, '/run')",
    "refused(read, '/proc/kcore')",
    "refused(read, '/proc/kmsg')",
    "refused(read, '/dev/mem')",
    "refused(read, '/dev/kmsg')",
    "refused(read, '/dev/tty')",
    "refused(os.openpty)",
]
VALUES: dict[str, Any] = {
    "shows('/')": True,
    "'HOSTILE_API_KEY' in os.environ": False,
    f"os.environ['HOME'] == {os.path.expanduser('~')!r}": False,
    "os.listdir(os.environ['HOME'])": [],
    "imports('greenloop')": False,
    "imports('langchain')": False,
    "imports('guest')": False,
    "imports('_guest')": False,
    "sys.stdin.read()": "",
    "[r for r in map(os.readlink, ['/proc/self/fd/%d' % n for n in range(3)])][0]": "/dev/null",
}
# Without namespaces these belong to the whole machine, and access is refused.
OR_REFUSED: dict[str, Any] = {
    "environs()": 0,
    "own_memory()": 0,
    "sorted(int(n) for n in os.listdir('/proc') if n.isdecimal()) == [1, os.getpid()]": True,
}
OWN_NAMES = {
    "socket.gethostname()": "sandbox",
    "os.getppid()": 1,
    f"shows({str(Path(greenloop.__file__).parent)[::-1]!r})": False,
}


@pytest.fixture(scope="module")
def answers(box: Sandbox, witness: Witness) -> dict[str, Any]:
    first, second = (repr(part.encode().hex()) for part in witness.halves())
    code = CODE.replace("FIRST_HEX", first).replace("SECOND_HEX", second)
    home, temporary = (str(item / "id_ed25519") for item in (witness.home, witness.open))
    paths = [f"refused(read, {path!r})" for path in (home, temporary)]
    found = answer_calls(
        box, code, [*REFUSED, *VALUES, *OR_REFUSED, *OWN_NAMES, "devices()", *paths]
    )
    return {**found, "keys": [found[path] for path in paths]}


@pytest.mark.parametrize("call", REFUSED, ids=range(len(REFUSED)))
def test_reading_is_refused(answers: dict[str, Any], call: str) -> None:
    assert is_refused(answers[call])


@pytest.mark.parametrize("call", VALUES)
def test_host_is_hidden(answers: dict[str, Any], call: str) -> None:
    assert answers[call] == VALUES[call]


@pytest.mark.parametrize("call", OR_REFUSED)
def test_host_is_hidden_or_access_is_refused(
    answers: dict[str, Any], spaces: bool, call: str
) -> None:
    assert answers[call] == OR_REFUSED[call] if spaces else is_refused(answers[call])


def test_host_devices_are_hidden(answers: dict[str, Any]) -> None:
    assert answers["devices()"] == [] or is_refused(answers["devices()"])


@pytest.mark.parametrize("call", OWN_NAMES)
def test_names_are_private_in_namespaces(answers: dict[str, Any], spaces: bool, call: str) -> None:
    """Without namespaces the host name and process ids are visible."""
    assert (answers[call] == OWN_NAMES[call]) == spaces


def test_keys_of_the_user_are_unreadable(answers: dict[str, Any]) -> None:
    assert answers["keys"] == ["refused", "refused"]
