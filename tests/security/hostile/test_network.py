"""Sockets: no other host or process can be reached; the run's own loopback works."""

from typing import Any

import pytest

from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import answer_calls
from tests.security.hostile.host_monitor import Witness
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
NEVER = [
    "refused(connects, socket.AF_INET, ('127.0.0.1', PORT))",
    "refused(connects, socket.AF_INET, ('8.8.8.8', 53))",
    "refused(connects, socket.AF_INET, ('169.254.169.254', 80))",
    "refused(connects, socket.AF_INET6, ('::1', PORT))",
    "refused(connects, socket.AF_INET6, ('::ffff:127.0.0.1', PORT))",
    "refused(connects, socket.AF_UNIX, PATH)",
    "refused(connects, socket.AF_UNIX, chr(0) + ABSTRACT)",
    "refused(connects, socket.AF_UNIX, '/run/dbus/system_bus_socket')",
    "refused(connects, socket.AF_UNIX, '/var/run/docker.sock')",
    "refused(datagram, PORT)",
    "refused(opens, 40)",
    "refused(opens, 40, socket.SOCK_DGRAM)",
    "refused(opens, socket.AF_NETLINK, socket.SOCK_RAW)",
    "refused(opens, socket.AF_PACKET, socket.SOCK_RAW)",
    "refused(opens, socket.AF_INET, socket.SOCK_RAW, 1)",
    "refused(opens, socket.AF_INET6, socket.SOCK_RAW, 58)",
    "refused(opens, 38, socket.SOCK_SEQPACKET)",
    "refused(opens, 31, socket.SOCK_RAW)",
    "refused(opens, 29, socket.SOCK_RAW)",
    "refused(opens, 44, socket.SOCK_RAW)",
    "refused(opens, 30, socket.SOCK_SEQPACKET)",
    "refused(opens, 16, socket.SOCK_DGRAM)",
    "refused(resolves, 'example.org')",
]
VALUES = {
    "own_pair()": "pair",
    "own_loop()": "loop",
}
# Without namespaces the network is the host's, and access is refused.
OR_REFUSED = {
    "visible_sockets()": 0,  # first: later calls open sockets of their own
    "interfaces()": ["lo"],
    "own_loopback()": "ping",
}


@pytest.fixture(scope="module")
def answers(box: Sandbox, witness: Witness) -> dict[str, Any]:
    names = {"PORT": witness.port, "PATH": witness.path, "ABSTRACT": witness.abstract}
    head = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    return answer_calls(box, head + CODE, [*OR_REFUSED, *VALUES, *NEVER])


@pytest.mark.parametrize("call", NEVER)
def test_connection_is_refused(answers: dict[str, Any], call: str) -> None:
    assert answers[call] == "refused"


@pytest.mark.parametrize("call", VALUES)
def test_socket_pairs_work(answers: dict[str, Any], call: str) -> None:
    assert answers[call] == VALUES[call]


@pytest.mark.parametrize("call", OR_REFUSED)
def test_network_namespace_is_private(answers: dict[str, Any], spaces: bool, call: str) -> None:
    if spaces:
        assert answers[call] == OR_REFUSED[call]
    else:
        assert answers[call].startswith("raised ")


PAIR = read_program(__file__, "PAIR")


def test_socket_of_a_pair_cannot_be_connected_elsewhere(
    box: Sandbox, witness: Witness, spaces: bool
) -> None:
    addresses = (witness.path, f"\0{witness.abstract}")
    calls = [
        f"refused({name}, {address!r})"
        for name in ("again", "send_to", "in_a_message")
        for address in addresses
    ]
    calls += [] if spaces else ["refused(listens)"]
    assert set(answer_calls(box, PAIR, calls).values()) == {"refused"}
