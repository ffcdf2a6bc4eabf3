"""Allowlist: the hosts that a run may connect to, and their addresses."""

import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import NamedTuple

from greenloop.errors import InputError

_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_HOST_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(:(?P<port>\d{1,5}))?")
_DEFAULT_PORTS = (80, 443)
_LOCALHOST = "localhost"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
SocketAddresses = list[tuple[socket.AddressFamily, str]]


class HostRule(NamedTuple):
    """A host that may be connected to."""

    host: str  # name or address
    is_wildcard: bool = False  # allow the subdomains of `host`, and not `host` itself
    port: int | None = None  # None for the ports of HTTP and HTTPS

    @classmethod
    def parse(cls, text: str) -> "HostRule":
        """Parse `example.org`, `*.example.org` or `127.0.0.1:8000`. Raises InputError."""
        found = _HOST_PORT.fullmatch(text.strip().lower())
        host = normalize_host(found["host"]) if found else ""
        is_wildcard = host.startswith("*.")
        port = int(found["port"]) if found and found["port"] else None
        name = host.removeprefix("*.")
        is_name = _NAME.fullmatch(name) and len(name) <= 253
        is_host = is_name or (parse_address(name) and not is_wildcard)
        if not is_host or not 0 < (1 if port is None else port) < 65536:
            raise InputError(
                f"not a host that can be allowed: {text!r} "
                "(example.org, *.example.org or 127.0.0.1:8000 are)"
            )
        return cls(name, is_wildcard, port)

    def allows(self, host: str, port: int) -> bool:
        """Return whether a request for a normalized host is allowed."""
        if port not in (_DEFAULT_PORTS if self.port is None else (self.port,)):
            return False
        return host.endswith(f".{self.host}") if self.is_wildcard else host == self.host


def normalize_host(host: str) -> str:
    """Return a host in lower case, without brackets or a final dot."""
    return host.lower().strip("[]").removesuffix(".")


def parse_address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def explain_rejection(rules: Sequence[HostRule], host: str, port: int) -> str:
    """Return why a request for a normalized host is not allowed; '' if it is."""
    if any(rule.allows(host, port) for rule in rules):
        return ""
    at_port = "" if port in _DEFAULT_PORTS else f":{port}"
    return f"{host}{at_port} is not among the hosts that are allowed"


def resolve_addresses(host: str, port: int) -> SocketAddresses:
    """Return the addresses of an allowed host.

    Private addresses are returned only for hosts that were allowed by address or as `localhost`, so
    that no name can lead into the network of this machine.

    Raises:
        PermissionError: all addresses are private.
        OSError: the host cannot be resolved.
    """
    literal = parse_address(host)
    found: SocketAddresses = []
    for family, _, _, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        address = parse_address(str(place[0]).partition("%")[0])
        if address is None:
            continue
        is_explicit = literal is not None or (host == _LOCALHOST and address.is_loopback)
        if is_explicit or is_public(address):
            found.append((family, str(place[0])))
    if not found:
        raise PermissionError(f"{host} leads to an address that is not public")
    return found


def is_public(address: Address) -> bool:
    """Return whether an address is public; one that embeds an IPv4 address, if that is public."""
    if isinstance(address, ipaddress.IPv6Address):
        teredo = address.teredo[1] if address.teredo else None
        inner = address.ipv4_mapped or address.sixtofour or teredo
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast
