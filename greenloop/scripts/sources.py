"""A script's file: read as text and written back the way it was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SourceFile:
    """A script as text (line ends as `\\n`, no byte order mark), and how its file has it."""

    path: Path
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    line_end: str = "\n"
    mode: int = 0o644

    @classmethod
    def read(cls, path: Path) -> SourceFile:
        """
        Raises:
            InputError: no such file, a folder, unreadable, binary, or in an unknown encoding.
        """
        raise NotImplementedError

    def encode(self, text: str) -> bytes:
        """
        Raises:
            OutputError: the file's encoding cannot hold the text.
        """
        raise NotImplementedError

    def write(self, path: Path, text: str) -> None:
        """Writes atomically, through a symbolic link to the real file; the mode stays.

        Raises:
            OutputError: it cannot be written; the old file is whole then.
        """
        raise NotImplementedError
