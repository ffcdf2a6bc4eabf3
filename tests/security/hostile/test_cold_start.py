"""Attacks in a new interpreter (a run with a hash seed of its own)."""

import pytest

from greenloop.records import TestRun
from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import PRELUDE, Limited
from tests.security.hostile.host_monitor import Witness

TESTS = "from solution import f\n\n\ndef test_f():\n    f()\n"
ENDINGS = {
    "memory": "def f():\n    kept = [bytes([1]) * (1 << 20) for _ in range(160)]\n    time.sleep(60)",
    "output": "def f():\n    while True: os.write(1, b'x' * 65536)",
    "crashed": "def f(): os._exit(0)",
    "garbled": "def f():\n    os.write(channel(), b'x\\n')\n    os._exit(0)",
    "timeout": "def f(): time.sleep(60)",
}
_CHANNEL = """
def channel():
    places = {n: os.readlink(f"/proc/self/fd/{n}") for n in range(64)
              if os.path.islink(f"/proc/self/fd/{n}")}
    own = min(n for n in places if n > 2 and places[n].startswith("pipe:") and
              places[n] != places[1])
    return own
"""


def cold(box: Sandbox, code: str) -> TestRun:
    return box.run_tests(f"{PRELUDE}{_CHANNEL}\n{code}", TESTS, hash_seed=7)


@pytest.mark.parametrize("ending", ENDINGS)
def test_ending_is_the_same_as_in_a_warm_run(box: Sandbox, limited: Limited, ending: str) -> None:
    with limited(memory_bytes=1 << 30, timeout_s=1 if ending == "timeout" else 20):
        run = cold(box, ENDINGS[ending])
    assert run.ending == ending, run


def test_job_and_host_are_hidden(box: Sandbox, witness: Witness, spaces: bool) -> None:
    alone = spaces or "os.getuid() > 65534"
    run = cold(
        box,
        "def f():\n"
        "    assert os.listdir(TMP) == os.listdir(os.environ['HOME']) == []\n"
        "    assert not any('guest' in path for path in sys.path)\n"
        f"    assert refused(read, {str(witness.home / 'id_ed25519')!r}) == 'refused'\n"
        "    assert refused(read, '/proc/1/environ') == 'refused'\n"
        "    assert 'HOSTILE_API_KEY' not in os.environ\n"
        "    assert refused(os.memfd_create, 'x') == 'refused'\n"
        f"    assert refused(socket.create_connection, ('127.0.0.1', {witness.port})) == 'refused'\n"
        f"    if {alone}: assert resource.getrlimit(resource.RLIMIT_NPROC) == (24, 24)\n",
    )
    assert run.passed, run
