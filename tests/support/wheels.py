"""Small wheels, built by hand, and a folder of them as the only index of pip."""

import base64
import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest


def wheel(
    folder: Path,
    name: str,
    files: dict[str, str],
    version: str = "1.0",
    requires: Sequence[str] = (),
    entry_points: str = "",
) -> str:
    """Write a wheel of pure Python and return the SHA-256 of the file."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {item}\n" for item in requires)
    content = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if entry_points:
        content[f"{info}/entry_points.txt"] = entry_points
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in content.items())
    content[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    path = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for inner, text in content.items():
            file.writestr(inner, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def only_wheels_of(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let pip use this folder alone: no network, no settings of the machine."""
    patch.setenv("PIP_CONFIG_FILE", "/dev/null")
    patch.setenv("PIP_NO_INDEX", "1")
    patch.setenv("PIP_FIND_LINKS", str(folder))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        patch.delenv(name, raising=False)
