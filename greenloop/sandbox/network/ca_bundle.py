"""Whom this machine trusts for HTTPS: a run behind a wall does not see the place where that stands."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path

CA_BUNDLE_NAME = ".authorities.pem"
_COMMON_PATHS = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
_MAX_BYTES = 4 << 20


def read_ca_bundle() -> bytes:
    """The certificates in one text; b'' where none are found."""
    known = ssl.get_default_verify_paths()
    for path in filter(None, (known.cafile, known.openssl_cafile, *_COMMON_PATHS)):
        with contextlib.suppress(OSError):
            if Path(path).stat().st_size <= _MAX_BYTES:
                return Path(path).read_bytes()
    return b""


def build_ca_environment(path: str) -> dict[str, str]:
    """Variables by which programs find such a file."""
    return dict.fromkeys(("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"), path)
