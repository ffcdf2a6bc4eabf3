"""Detection of manipulated files in a project's environment: startup files, and pytest itself."""

import base64
import csv
import hashlib
from collections.abc import Iterator, Set
from pathlib import Path

_FOLDERS = (".venv", "venv")
_RUNNERS = ("pytest-", "pluggy-")  # packages that decide how a test ends
_STARTUP = ("sitecustomize.py", "usercustomize.py")
_KNOWN = "_virtualenv.pth"  # written by virtualenv and uv, in no RECORD


def find_tampered_files(root: Path, since: float) -> Iterator[str]:
    """Yield a sentence for each manipulated file that was written after `since`, in Unix time."""
    for name in _FOLDERS:
        for packages in sorted((root / name).glob("lib/python*/site-packages")):
            records = {item: _read_record(item) for item in packages.glob("*.dist-info/RECORD")}
            for file in _find_startup_files(packages, set().union(*records.values(), [_KNOWN])):
                if _is_newer(file, since):
                    yield f"{file.relative_to(root)}: was added; Python runs it before every test"
            for record, digests in records.items():
                is_runner = record.parent.name.startswith(_RUNNERS)
                for path, digest in digests.items() if is_runner else ():
                    file = packages / path
                    if not digest or path.startswith("..") or not _is_newer(file, since):
                        continue  # bin scripts are not imported; moving an environment edits them
                    if _digest(file) != digest:
                        yield f"{file.relative_to(root)}: differs from what was installed"


def _read_record(record: Path) -> dict[str, str]:
    """Return the digests in a package's RECORD by path, '' for a file without one."""
    rows = csv.reader(record.read_text("utf-8", "replace").splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 1}


def _find_startup_files(packages: Path, listed: Set[str]) -> Iterator[Path]:
    """Yield the files that Python runs at startup and that no package has in its RECORD."""
    for file in sorted(item for item in packages.iterdir() if item.name not in listed):
        if file.suffix == ".pth":
            lines = file.read_text("utf-8", "replace").splitlines()
            if any(line.startswith(("import ", "import\t")) for line in lines):
                yield file
        elif file.name in _STARTUP:
            yield file


def _is_newer(file: Path, since: float) -> bool:
    return file.is_file() and file.stat().st_mtime > since


def _digest(file: Path) -> str:
    found = hashlib.sha256(file.read_bytes()).digest()
    return "sha256=" + base64.urlsafe_b64encode(found).decode().rstrip("=")
