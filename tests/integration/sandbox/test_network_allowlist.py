"""Scripts with allowed hosts: only these are reached, and each request is recorded."""

import contextlib
import http.server
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from greenloop.errors import InputError, SandboxError
from greenloop.records import NetworkRequest, ScriptJob, ScriptRun
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.network import allowlist
from greenloop.sandbox.network.allowlist import (
    HostRule,
    explain_rejection,
    is_public,
    normalize_host,
    parse_address,
    resolve_addresses,
)
from greenloop.sandbox.network.proxy import Proxy
from tests.support.programs import read_program


class Page(http.server.BaseHTTPRequestHandler):
    """Responds with the request."""

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode()
        response = {"path": self.path, "body": body, "headers": dict(self.headers)}
        data = json.dumps(response).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Start a server on this machine and return its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


FETCH = read_program(__file__, "FETCH")


def fetch(box: Sandbox, port: int, script: str = FETCH, **more: Any) -> ScriptRun:
    allowed = (f"127.0.0.1:{port}", "*.example.org")
    job = ScriptJob(script=script, arguments=(str(port),), allow_network=allowed, **more)
    return box.run_script(job)


@pytest.fixture(scope="module")
def reaching(box: Sandbox) -> Sandbox:
    """Return a sandbox that can allow hosts; for the others see below."""
    if not box.can_allow_hosts:
        pytest.skip(f"{box.info.backend} has no way to let hosts through one by one")
    return box


def test_allowed_hosts_are_reached_and_no_others(reaching: Sandbox, port: int) -> None:
    run = fetch(reaching, port)
    assert run.exit_status == 0, run
    refused = [
        f"HTTP Error 403: {name} is not among the hosts that are allowed"
        for name in (
            "other.example",
            f"localhost:{port}",
            f"127.0.0.1:{port + 1}",
            "169.254.169.254",
        )
    ]
    tunnel = (
        "<urlopen error Tunnel connection failed: 403 "
        "other.example is not among the hosts that are allowed>"
    )
    names = "['HTTPS_PROXY', 'HTTP_PROXY', 'http_proxy', 'https_proxy'] True"
    assert run.stdout.splitlines() == [
        "/page?q=1 sent a True",
        refused[0],
        tunnel,
        *refused[1:],
        "alone",
        "alone",
        "no names",
        names,
    ]
    assert [(item.host, item.port, item.method, item.allowed) for item in run.network] == [
        ("127.0.0.1", port, "POST", True),
        ("other.example", 80, "GET", False),
        ("other.example", 443, "CONNECT", False),
        ("localhost", port, "GET", False),
        ("127.0.0.1", port + 1, "GET", False),
        ("169.254.169.254", 80, "GET", False),
    ]
    first = run.network[0]
    assert first.sent > len("sent")
    assert first.received > 100
    assert run.network[1].why == "other.example is not among the hosts that are allowed"


TUNNEL = read_program(__file__, "TUNNEL")


def test_tunnels_carry_bytes_and_invalid_requests_are_refused(reaching: Sandbox, port: int) -> None:
    run = fetch(reaching, port, TUNNEL)
    assert run.exit_status == 0, run
    lines = run.stdout.splitlines()
    assert lines[:2] == ["HTTP/1.1 200 Connection established", "True"]
    assert all(line.startswith("HTTP/1.1 400 ") for line in lines[2:8]), lines
    assert lines[8:] == ["1"]
    assert [item.allowed for item in run.network] == [True, *[False] * 6, True]


def test_no_host_is_reached_by_default(box: Sandbox) -> None:
    script = "import os\nprint([name for name in os.environ if 'proxy' in name.lower()])"
    assert box.run_script(ScriptJob(script=script)).stdout == "[]\n"


def test_sandbox_without_host_rules_raises(box: Sandbox) -> None:
    if box.can_allow_hosts:
        assert box.info.backend in ("native", "bubblewrap")
        return
    with pytest.raises(SandboxError, match=f"{box.info.backend}: hosts cannot be allowed"):
        box.run_script(ScriptJob(script="", allow_network=("example.org",)))


def test_proxy_ends_with_an_interrupted_or_hanging_run(reaching: Sandbox, port: int) -> None:
    before = threading.active_count()
    script = TUNNEL.split("    through.sendall")[0] + "    while True: pass"
    run = fetch(reaching, port, script, timeout_s=1.0)
    assert run.ending == "timeout"
    for thread in threading.enumerate():
        if thread.name == "greenloop-proxy":
            thread.join(5)
    assert threading.active_count() <= before


COVERED = {
    "example.org": [("example.org", 443), ("example.org", 80)],
    "*.example.org": [("a.example.org", 443), ("a.b.example.org", 80)],
    "Example.ORG:8443": [("example.org", 8443)],
    "[::1]:80": [("::1", 80)],
    "10.0.0.1": [("10.0.0.1", 80)],
}
NOT_COVERED = {
    "example.org": [("a.example.org", 443), ("example.org", 22), ("notexample.org", 80)],
    "*.example.org": [("example.org", 80), ("badexample.org", 80), ("a.example.org.evil", 80)],
    "example.org:8443": [("example.org", 443)],
    "127.0.0.1": [("127.1", 80), ("2130706433", 80), ("localhost", 80)],
}


def test_rules_match_hosts_and_ports() -> None:
    for text, asked in COVERED.items():
        assert [explain_rejection([HostRule.parse(text)], *item) for item in asked] == [""] * len(
            asked
        )
    for text, asked in NOT_COVERED.items():
        assert all(explain_rejection([HostRule.parse(text)], *item) for item in asked), text
    assert normalize_host("[FE80::1]") == "fe80::1"
    assert normalize_host("Example.org.") == "example.org"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.",
        "http://a.example",
        "a b",
        "a/b",
        "a:0",
        "a:99999",
        "a:b",
        "*.1.2.3.4:x",
        "a..b",
        "é.org",
    ],
)
def test_invalid_host_is_refused(text: str) -> None:
    with ProcessSandbox() as none, pytest.raises(InputError, match="not a host"):
        none.run_script(ScriptJob(script="", allow_network=(text,)))


@pytest.mark.parametrize(
    "address",
    "127.0.0.1 10.1.2.3 192.168.0.1 172.16.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 ::1 :: "
    "fe80::1 fc00::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: ff02::1".split(),
)
def test_private_addresses_are_not_public(address: str) -> None:
    found = parse_address(address)
    assert found is not None
    assert not is_public(found)


def test_name_of_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answer: list[str] = []

    def resolve(host: str, port: int, **more: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (item, port)) for item in answer]

    monkeypatch.setattr(allowlist.socket, "getaddrinfo", resolve)
    answer[:] = ["127.0.0.1", "10.0.0.1"]
    with pytest.raises(PermissionError, match="not public"):
        resolve_addresses("rebound.example.org", 80)
    answer[:] = ["127.0.0.1", "8.8.8.8"]
    assert [where for _, where in resolve_addresses("rebound.example.org", 80)] == ["8.8.8.8"]
    answer[:] = ["127.0.0.1"]
    assert [where for _, where in resolve_addresses("localhost", 80)] == ["127.0.0.1"]
    assert [where for _, where in resolve_addresses("127.0.0.1", 80)] == ["127.0.0.1"]


def test_number_of_bytes_is_limited(port: int) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = Proxy([HostRule.parse(f"127.0.0.1:{port}")], seconds=20, max_bytes=1000)
    proxy.serve(listener)
    with socket.create_connection(listener.getsockname()) as client:
        body = b"x" * 100_000
        head = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        with contextlib.suppress(ConnectionError):
            client.sendall(head.encode() + body)
            assert client.recv(10) == b""
    proxy.close()
    request: NetworkRequest = proxy.requests[0]
    assert request.sent + request.received < 100_000
