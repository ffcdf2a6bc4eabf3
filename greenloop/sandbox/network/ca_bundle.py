"""Whom this machine trusts for HTTPS: a run behind a wall does not see the place where that stands."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path

AUTHORITIES = ".authorities.pem"
_USUAL = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
_MOST_BYTES = 4 << 20


def authorities() -> bytes:
    """The certificates in one text; b'' where none are found."""
    known = ssl.get_default_verify_paths()
    for path in filter(None, (known.cafile, known.openssl_cafile, *_USUAL)):
        with contextlib.suppress(OSError):
            if Path(path).stat().st_size <= _MOST_BYTES:
                return Path(path).read_bytes()
    return b""


def trusting(path: str) -> dict[str, str]:
    """Variables by which programs find such a file."""
    return dict.fromkeys(("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"), path)
