"""Isolation of runs from each other: nothing of a run is visible to the next or a parallel one."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import PRELUDE, answer_calls, is_refused
from tests.security.hostile.host_monitor import wait_for_name
from tests.support.programs import read_program

LEAVE = PRELUDE + read_program(__file__, "LEAVE")
FIND = {
    "[p for p in ('/tmp/left', '/dev/shm/left') if os.path.exists(p)]": [],
    "{*os.listdir('.')} - {os.path.basename(sys.argv[0])} == {'probes.py'}": True,
    "os.listdir(os.environ['HOME'])": [],
    "[n for n in os.listdir(TMP) if not n.endswith(os.path.basename(os.getcwd()))]": [],
    "'LEFT' in os.environ": False,
    "hasattr(__import__('builtins'), 'left')": False,
    "__import__('json').loads('[1]')": [1],
    "__import__('math').sqrt(4) == 2": True,
    "'left' in sys.modules": False,
    "'/left' in sys.path": False,
    "signal.getsignal(signal.SIGTERM) == signal.SIG_DFL": True,
    "os.umask(0o22) != 0o777": True,
    "refused(socket.create_connection, ('127.0.0.1', 12345), 1)": "refused",
    "refused(abstract)": "refused",
    "threading.active_count()": 1,
    "opened()": [1, 2, 3, 4],  # output, errors, results, stack dump; others are /dev/null
}
# Without namespaces these belong to the whole machine, and access is refused.
FIND_OR_REFUSED = {
    "os.listdir('/dev/shm')": [],
    "sorted(int(n) for n in os.listdir('/proc') if n.isdecimal()) == [1, os.getpid()]": True,
    "[open('/proc/net/' + n).read().count(':3039') for n in ('tcp', 'tcp6')]": [0, 0],
}
CODE = read_program(__file__, "CODE")


def assert_nothing(found: dict[str, Any], spaces: bool) -> None:
    assert {call: found[call] for call in FIND} == FIND
    for call, nothing in FIND_OR_REFUSED.items():
        assert found[call] == nothing if spaces else is_refused(found[call])


def test_next_run_finds_nothing(box: Sandbox, spaces: bool) -> None:
    assert answer_calls(box, LEAVE, ["leave()"]) == {"leave()": True}
    assert_nothing(answer_calls(box, CODE, [*FIND, *FIND_OR_REFUSED]), spaces)


def test_parallel_run_finds_nothing(box: Sandbox, spaces: bool) -> None:
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(box.evaluate_calls, LEAVE, "probes", ["stay()"])
        try:
            wait_for_name("staying")
            found = answer_calls(box, CODE, [*FIND, *FIND_OR_REFUSED])
        finally:
            box.interrupt()
        assert "interrupted" in other.result().error  # so it was running all the time
    assert_nothing(found, spaces)


def test_patched_pytest_does_not_affect_the_next_run(box: Sandbox) -> None:
    tests = "import solution\n\n\ndef test_f():\n    assert solution.leave()\n"
    box.run_tests(LEAVE, tests)
    after = (
        "import pytest, solution\n\n\ndef test_f():\n    with pytest.raises(ValueError): int('')\n"
    )
    assert box.run_tests("", after).passed


def values(box: Sandbox, call: str) -> list[Any]:
    return [answer_calls(box, "import random, uuid, secrets", [call])[call] for _ in range(3)]


@pytest.mark.parametrize(
    "call",
    ["random.random().hex()", "str(uuid.uuid4())", "secrets.token_hex()", "os.urandom(9).hex()"],
)
def test_random_state_is_not_shared(box: Sandbox, call: str) -> None:
    assert len(set(values(box, call))) == 3
