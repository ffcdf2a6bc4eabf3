"""Test files written by hand, each with the one module that it tests, from sdists on PyPI."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PACKAGES = (
    "boltons braceexpand decorator first inflection jsonpointer mccabe ordered-set parse schema six "
    "toposort xmltodict"
).split()
_TEST = re.compile(r"(test_\w+|\w+_test|tests?)\.py")
_NO_MODULE = frozenset({"setup.py", "conf.py", "conftest.py", "__main__.py"})


@dataclass(frozen=True)
class RealFile:
    """A test file and its module, as text. `renamed`: the package was removed from its imports."""

    title: str
    module: str
    code: str
    tests: str
    renamed: bool = False


def real_files(packages: Sequence[str], folder: Path) -> Iterator[RealFile]:
    """Yield, for each package that can be fetched, test files of exactly one of its modules."""
    for package in packages:
        sdist = _download(package, folder / package)
        if sdist is None:
            print(f"{package}: there is no sdist of it to be had")
            continue
        texts = _texts(sdist)
        tests = {path: text for path, text in texts.items() if _TEST.fullmatch(path.name)}
        for path, text in tests.items():
            yield from _pair(package, path, text, _modules(texts.keys() - tests.keys(), texts))


def _download(package: str, folder: Path) -> Path | None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-binary", package, "--dest", str(folder), package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return next(folder.glob("*.tar.gz"), None) if done.returncode == 0 else None


def _texts(sdist: Path) -> dict[PurePosixPath, str]:
    """Return all Python files by path, without the top folder and `src`."""
    found = {}
    with tarfile.open(sdist) as archive:
        for item in archive:
            parts = PurePosixPath(item.name).parts[1:]
            file = archive.extractfile(item) if item.isfile() else None
            if file is not None and parts and parts[-1].endswith(".py"):
                inner = parts[1:] if parts[0] == "src" else parts
                found[PurePosixPath(*inner)] = file.read().decode("utf-8", "replace")
    return found


def _modules(
    paths: set[PurePosixPath], texts: dict[PurePosixPath, str]
) -> dict[str, tuple[str, str]]:
    """Return modules by the last part of their name, with their text."""
    found = {}
    for path in paths:
        if path.name in _NO_MODULE or len(path.parts) > 2:
            continue
        if path.name != "__init__.py":
            found[".".join(path.with_suffix("").parts)] = (path.stem, texts[path])
        elif sum(other.parts[0] == path.parts[0] for other in paths) == 1:
            found[path.parent.name] = (path.parent.name, texts[path])
    return found


def _pair(
    package: str, path: PurePosixPath, tests: str, modules: dict[str, tuple[str, str]]
) -> Iterator[RealFile]:
    """Yield the file with its module; nothing if it imports none of them, or several."""
    used = [name for name in modules if _imports(name, tests)]
    if len(used) != 1:
        return
    (name,) = used
    module, code = modules[name]
    if "." in name:
        tests = _without_package(name, tests)
    yield RealFile(f"{package}: {path.name}", module, code, tests, "." in name)


def _imports(name: str, tests: str) -> bool:
    parent, _, last = name.rpartition(".")
    forms = [rf"^\s*(from|import) {re.escape(name)}\b(?!\.)"]
    if parent:
        forms.append(rf"^\s*from {re.escape(parent)} import [^\n]*\b{last}\b")
    return any(re.search(form, tests, re.MULTILINE) for form in forms)


def _without_package(name: str, tests: str) -> str:
    """Return the same tests for a module outside a package."""
    parent, _, last = name.rpartition(".")
    tests = re.sub(
        rf"^(\s*)from {re.escape(parent)} import ", r"\1import ", tests, flags=re.MULTILINE
    )
    return re.sub(rf"\b{re.escape(name)}\b", last, tests)
