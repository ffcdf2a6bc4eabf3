"""Parser of a request to the proxy. Nothing in it is trusted."""

import re
import socket
from typing import NamedTuple

from greenloop.sandbox.network.allowlist import normalize_host

_HEAD_BYTES, _CHUNK = 32 << 10, 4096
_REQUEST_LINE = re.compile(r"(?P<method>[A-Z]{1,20}) (?P<target>[!-~]{1,8000}) HTTP/1\.[01]")
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,253})(:(?P<port>\d{1,5}))?")
_URL = re.compile(r"http://(?P<authority>[^/?#]*)(?P<path>[^#]*)(#.*)?", re.I)
_HEADER = re.compile(r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?P<value>[^\r\n\0]*)")
_HOP_BY_HOP_HEADERS = frozenset(
    "connection keep-alive proxy-connection proxy-authorization host te trailer upgrade expect "
    "content-length".split()
)


class BadRequest(Exception):
    """The bytes are not a valid request to a proxy."""


class ProxyRequest(NamedTuple):
    """One request."""

    method: str
    host: str
    port: int
    forwarded_head: bytes = b""  # the head that is sent to the server, b'' for a tunnel
    rest: bytes = b""  # the bytes received after the head
    remaining_bytes: int | None = None  # how many more the client may send, None for a tunnel


def read_request(client: socket.socket) -> ProxyRequest:
    """Read a request. Raises BadRequest; OSError if the client disconnects or is too slow."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = client.recv(_CHUNK)
        data += part
        if not part:
            raise ConnectionError("the client has disconnected")
        if len(data) > _HEAD_BYTES:
            raise BadRequest("the head of the request is too long")
    head, _, rest = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    found = _REQUEST_LINE.fullmatch(first)
    if found is None:
        raise BadRequest("not a request to a proxy")
    method, target = found["method"], found["target"]
    if method == "CONNECT":
        host, port = _parse_authority(target, None)
        return ProxyRequest(method, host, port, rest=rest)
    return _parse_plain_request(method, target, lines, rest)


def _parse_plain_request(method: str, target: str, lines: list[str], rest: bytes) -> ProxyRequest:
    """Parse a request that is no tunnel; a second one on its connection would go unchecked."""
    url = _URL.fullmatch(target)
    if url is None:
        raise BadRequest("not a request to a proxy: http://… or CONNECT")
    host, port = _parse_authority(url["authority"], 80)
    headers = [_parse_header(line) for line in lines]
    names = [name.lower() for name, _ in headers]
    if "transfer-encoding" in names or names.count("content-length") > 1:
        raise BadRequest("a body without a length")
    length = next((value for name, value in headers if name.lower() == "content-length"), "0")
    if not re.fullmatch(r"[0-9]{1,12}", length):
        raise BadRequest("an invalid Content-Length")
    kept = [
        f"{name}: {value}" for name, value in headers if name.lower() not in _HOP_BY_HOP_HEADERS
    ]
    own = [f"Host: {url['authority']}", "Connection: close"]
    own += [f"Content-Length: {length}"] if "content-length" in names else []
    path = url["path"] if url["path"].startswith("/") else f"/{url['path']}"
    opening = "\r\n".join([f"{method} {path} HTTP/1.1", *own, *kept, "", ""]).encode("latin-1")
    body = rest[: int(length)]
    return ProxyRequest(method, host, port, opening, body, int(length) - len(body))


def _parse_authority(text: str, port: int | None) -> tuple[str, int]:
    found = _AUTHORITY.fullmatch(text)
    number = int(found["port"]) if found and found["port"] else port
    if found is None or number is None or not 0 < number < 65536:
        raise BadRequest("no host and port")
    return normalize_host(found["host"]), number


def _parse_header(line: str) -> tuple[str, str]:
    found = _HEADER.fullmatch(line)
    if found is None:
        raise BadRequest("an invalid header")
    return found["name"], found["value"]
