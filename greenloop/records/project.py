"""A person's folder, as it was when it was read: code and tests in a layout of their own."""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.records.script_result import Base64Record, InputFile


class Project(Base64Record):
    """`targets` are test files or folders, '' or `.` for all of it; paths are relative to the root.

    `overlay` are files that take the place of those of the same path, or are new. `left_out` says
    what of the folder was not read. Where tests are shuffled, those of the files `last` stay behind.
    """

    files: tuple[InputFile, ...]
    targets: tuple[str, ...] = ()
    overlay: tuple[InputFile, ...] = ()
    left_out: tuple[str, ...] = ()
    last: tuple[str, ...] = ()

    def with_overlay(self, sources: Mapping[str, str]) -> Project:
        """The same with these sources (by path) laid over it, in the place of an earlier overlay."""
        laid = (InputFile(path=path, content=text.encode()) for path, text in sources.items())
        return self.model_copy(update={"overlay": tuple(laid)})

    @property
    def all_files(self) -> dict[str, bytes]:
        """All files as a run finds them, by path."""
        return {item.path: item.content for item in (*self.files, *self.overlay)}
