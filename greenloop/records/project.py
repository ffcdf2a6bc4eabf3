"""A snapshot of a user's folder: code and tests in their own layout."""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.records.script_result import Base64Record, InputFile


class Project(Base64Record):
    """The files of a project; paths are relative to its root.

    `targets` are test files or folders, '' or `.` for all. `overlay` are files that replace those of
    the same path, or are new. `left_out` says what was not read. Where tests are shuffled, those of
    the files `last` still run last.
    """

    files: tuple[InputFile, ...]
    targets: tuple[str, ...] = ()
    overlay: tuple[InputFile, ...] = ()
    left_out: tuple[str, ...] = ()
    last: tuple[str, ...] = ()

    def with_overlay(self, sources: Mapping[str, str]) -> Project:
        """Return the project with these sources, by path, in place of its overlay."""
        overlay = (InputFile(path=path, content=text.encode()) for path, text in sources.items())
        return self.model_copy(update={"overlay": tuple(overlay)})

    @property
    def all_files(self) -> dict[str, bytes]:
        """Return all files by path, those of the overlay included."""
        return {item.path: item.content for item in (*self.files, *self.overlay)}
