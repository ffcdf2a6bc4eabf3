"""Programs that hang, end their process, or hand out values that are costly to compare."""

import socket

import pytest

from greenloop.grading.peer.comparison import Comparison, PeerProgram, compare_programs
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile

CODE = "def double(number):\n    return number * 2\n"
TESTS = "from m import double\n\ndef test_double():\n    assert double(2) == 4\n"


def _compare(box: Sandbox, code: str = CODE, peer: str = CODE, inputs: str = "") -> Comparison:
    return compare_programs(
        box,
        module="m",
        code=code,
        peer=PeerProgram(peer, inputs),
        interface="def double(number: int) -> int: ...",
        specification="",
        tests=[TestFile("test_m.py", TESTS)],
        examples=["double(3)"],
        seed="1",
        budget_s=6.0,
    )


def test_the_same_seed_gives_the_same_inputs(warm: Sandbox) -> None:
    wrong = CODE.replace("* 2", "* 2 + (number == 9)")
    first, second = _compare(warm, wrong), _compare(warm, wrong)
    assert first.differences == second.differences != ()
    assert first.differences[0].call == "double(9)"
    assert (first.differences[0].code, first.differences[0].peer_literal) == ("19", "18")


@pytest.mark.parametrize(
    "peer",
    [
        "import time\ntime.sleep(60)",
        "import os\nos._exit(0)",
        "def double(number):\n    while True:\n        pass\n",
        "raise RuntimeError('no')",
        "def other():\n    pass\n",
        "def double(number) return",
    ],
)
def test_a_peer_that_answers_nothing_is_said_in_one_line(warm: Sandbox, peer: str) -> None:
    found = _compare(warm, peer=peer)
    assert (found.allowed, found.differences) == (0, ())
    assert found.problem.splitlines() == [found.problem]
    assert len(found.problem) < 400


@pytest.mark.parametrize("base", ["int", "object"])
def test_a_peer_whose_answers_say_that_they_equal_all_others_agrees_on_nothing(
    warm: Sandbox, base: str
) -> None:
    peer = f"class Same({base}):\n    def __eq__(self, other):\n        return True\n\ndef double(number):\n    return Same()\n"
    assert _compare(warm, peer=peer).agreed == 0


def test_a_peer_calls_nobody_outside_of_the_sandbox(warm: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = server.getsockname()
        peer = f"import socket\nsocket.create_connection({address!r}, 1).send(b'x')\n{CODE}"
        found = _compare(warm, peer=peer)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert found.allowed == 0
    assert found.problem.splitlines() == [found.problem]


@pytest.mark.parametrize(
    "inputs",
    [
        "def inputs(rng):\n    while True:\n        pass\n",
        "def inputs(rng):\n    for number in range(10**9):\n        yield (number,)\n",
        "def inputs(rng):\n    while True:\n        yield ('x' * 10**6,)\n",
        "def inputs(rng):\n    raise RuntimeError\n",
        "def inputs(rng):\n    return 3\n",
    ],
)
def test_a_generator_without_end_does_not_stop_the_comparison(warm: Sandbox, inputs: str) -> None:
    found = _compare(warm, CODE.replace("* 2", "* 2 + (number == 9)"), inputs=inputs)
    assert found.differences
    assert found.allowed >= 50


def test_code_that_ends_its_process_is_a_difference(warm: Sandbox) -> None:
    found = _compare(
        warm,
        "import os\n\ndef double(number):\n    return number * 2 if number != 5 else os.abort()",
    )
    assert [item.code for item in found.differences] == ["ends the process"]


def test_code_that_is_exponential_is_slower(warm: Sandbox) -> None:
    slow = "def double(number):\n    return number + double(number - 1) - number + 2 + 0 * double(number - 1) if number > 0 else number * 2"
    assert _compare(warm, slow).slower


def test_code_is_not_slower_whose_cost_is_a_power_of_the_size(warm: Sandbox) -> None:
    """Four loops: late on numbers above 100, and no exponential cost."""
    honest = """def double(number):
    for a in range(number):
        for b in range(number):
            for c in range(0, number, 4):
                for d in range(0, number, 4):
                    pass
    return number * 2
"""
    found = _compare(warm, honest)
    assert (found.differences, found.slower) == ((), ())
    assert found.allowed < found.inputs  # some were late


def test_code_is_not_slower_than_a_peer_that_raises(warm: Sandbox) -> None:
    slow = "def double(number):\n    while number > 50:\n        pass\n    return number * 2\n"
    assert _compare(warm, slow).slower
    peer = "def double(number):\n    return [2 * at for at in range(51)][number]\n"
    assert _compare(warm, slow, peer).slower == ()


def test_code_is_not_slower_than_a_peer_that_does_something_else(warm: Sandbox) -> None:
    slow = "def double(number):\n    while number > 50:\n        pass\n    return number * 2\n"
    found = _compare(warm, slow, CODE.replace("* 2", "* 3"))
    assert (bool(found.differences), found.slower) == (True, ())


def test_members_of_one_hash_are_not_compared_on_the_host(warm: Sandbox) -> None:
    code = "def double(number):\n    return {at * (2**61 - 1) for at in range(1, 1500)} if number == 3 else number"
    found = _compare(warm, code, code)
    assert found.differences == ()
    assert found.agreed >= 50


def test_answers_without_bounds_are_not_compared(warm: Sandbox) -> None:
    code = "def double(number):\n    print('x' * 10**6)\n    return 'x' * 10**7"
    found = _compare(warm, code, code.replace("'x' * 10**7", "'y' * 10**7"))
    assert found.differences == ()
    assert found.agreed == 0
