"""Fixes of changed files by a project's own ruff and formatter configuration.

Nothing of the project runs: ruff and black only read its configuration and parse its files.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from greenloop.autofix.ruff import parse_items, run_ruff, run_tool

_TIMEOUT_SECONDS = 30
_CONFIGURATION = frozenset({"pyproject.toml", "ruff.toml", ".ruff.toml"})


@dataclass(frozen=True)
class StyledFiles:
    """Changed files after fixes, the ruff rules that were fixed, and the new findings left."""

    texts: Mapping[str, str]
    applied: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()


def apply_project_style(files: Mapping[str, bytes], changed: Mapping[str, str]) -> StyledFiles:
    """Fix the new findings of a change with the tools that the project configures.

    `files` are all files of the project before the change. Findings that were there before stay,
    and so does the format of a file that was not formatted.
    """
    text = files.get("pyproject.toml", b"").decode("utf-8", "replace")
    has_ruff = "[tool.ruff" in text or bool(files.keys() & {"ruff.toml", ".ruff.toml"})
    has_black = "[tool.black" in text
    python = {path: item for path, item in changed.items() if path.endswith(".py")}
    if not python or not (has_ruff or has_black):
        return StyledFiles(changed)
    with tempfile.TemporaryDirectory() as temporary:
        style = _ProjectStyle(Path(temporary), files, python, has_black)
        style.write_project()
        return style.apply(changed, has_ruff)


@dataclass(frozen=True)
class _ProjectStyle:
    """A copy of a project: its configuration, its changed files, and its other modules empty."""

    folder: Path
    files: Mapping[str, bytes]
    changed: Mapping[str, str]
    has_black: bool

    def write_project(self) -> None:
        for path, content in self.files.items():
            if PurePosixPath(path).name in _CONFIGURATION:
                write_file(self.folder / path, content)
            elif path.endswith(".py"):  # tells ruff which imports are first-party
                write_file(self.folder / path, content if path in self.changed else b"")

    def apply(self, changed: Mapping[str, str], has_ruff: bool) -> StyledFiles:
        before = self._lint() if has_ruff else Counter[tuple[str, str]]()
        formatted = [path for path in self.changed if self._is_formatted(path)]
        for path, text in self.changed.items():
            write_file(self.folder / path, text)
        new = self._lint() - before if has_ruff else Counter[tuple[str, str]]()
        codes = sorted({code for _, code in new} - {code for _, code in before})
        if codes:
            options = ("--fix", "--no-unsafe-fixes", "--quiet", "--select", ",".join(codes))
            self._run_ruff("check", *options, *self.changed)
        for path in formatted:
            self._run_formatter(path)
        left = self._lint() - before if new else new
        fixed = sorted({code for _, code in new} - {code for _, code in left})
        texts = {path: (self.folder / path).read_bytes().decode() for path in self.changed}
        findings = tuple(f"{path}: ruff {code}" for path, code in sorted(left))
        return StyledFiles({**changed, **texts}, tuple(f"ruff {i}" for i in fixed), findings)

    def _lint(self) -> Counter[tuple[str, str]]:
        """Return how often each rule is violated in each changed file."""
        options = ("--no-fix", "--no-fix-only", "--output-format", "json")
        ended = self._run_ruff("check", *options, *self.changed)
        items = parse_items(ended.stdout) if ended and ended.returncode in (0, 1) else []
        root = self.folder.resolve()
        found = ((Path(item["filename"]).resolve(), item["code"] or "") for item in items)
        return Counter((path.relative_to(root).as_posix(), code) for path, code in found)

    def _is_formatted(self, path: str) -> bool:
        return path not in self.files or self._run_formatter("--check", path)

    def _run_formatter(self, *arguments: str) -> bool:
        if self.has_black:
            command = [sys.executable, "-I", "-m", "black", "--quiet", *arguments]
            ended = run_tool(command, _TIMEOUT_SECONDS, folder=self.folder)
        else:
            ended = self._run_ruff("format", "--quiet", *arguments)
        return ended is not None and ended.returncode == 0

    def _run_ruff(self, action: str, *arguments: str) -> subprocess.CompletedProcess[str] | None:
        options = ("--no-cache", *arguments)
        return run_ruff(action, *options, timeout_s=_TIMEOUT_SECONDS, folder=self.folder)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file in a folder that is created if needed."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
