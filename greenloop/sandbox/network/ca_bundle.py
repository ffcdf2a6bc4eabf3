"""CA certificates of this machine, for runs that may use HTTPS but cannot see its files."""

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
    """Return the certificates in PEM format; b'' where none are found."""
    known = ssl.get_default_verify_paths()
    for path in filter(None, (known.cafile, known.openssl_cafile, *_COMMON_PATHS)):
        with contextlib.suppress(OSError):
            if Path(path).stat().st_size <= _MAX_BYTES:
                return Path(path).read_bytes()
    return b""


def build_ca_environment(path: str) -> dict[str, str]:
    """Return the variables by which programs find the certificates at this path."""
    return dict.fromkeys(("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"), path)
