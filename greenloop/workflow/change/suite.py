"""The tests of a change: new ones, and those of the project that are locked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from greenloop.project.patch import diff_files
from greenloop.records import HeldOutExample, Origin
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import (
    TestFunction,
    is_test_path,
    parse_test_functions,
    remove_test,
)
from greenloop.testsuite.suite import DroppedTest
from greenloop.testsuite.used_definitions import show_with_definitions


@dataclass(frozen=True)
class ChangeSuite:
    """New and locked tests, with the interface that loop and report use of a test suite.

    `files` are the texts of the files with new tests, `before` those of all files of the project
    as they are. `locked` are node ids that have to go on passing. With `is_given` the new tests are
    the user's. `ids` are the node ids of the new tests, which a first run shows.
    """

    before: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()
    is_given: bool = False
    ids: frozenset[str] = frozenset()
    dropped: tuple[DroppedTest, ...] = ()
    held_out: tuple[HeldOutExample, ...] = ()
    file_name: str = ""  # tests have ids with their paths

    @cached_property
    def functions(self) -> dict[str, TestFunction]:
        """The new tests by `path::name`: those that the project does not have word for word."""
        known = {path: self._known_sources(path) for path in self.files}
        return {
            f"{path}::{item.name}": item
            for path, text in self.files.items()
            for item in parse_test_functions(text)
            if item.source(text) not in known[path]
        }

    def _known_sources(self, path: str) -> set[str]:
        text = self.before.get(path, "")
        return {item.source(text) for item in parse_test_functions(text)}

    @cached_property
    def code(self) -> str:
        """The new tests, file by file."""
        return "\n\n".join(f"# file: {path}\n{self.added(path)}" for path in self.files)

    def added(self, path: str) -> str:
        """Return the new tests of a file; a new file is returned whole."""
        text = self.files[path]
        if path not in self.before:
            return text
        return "\n\n".join(self.functions[name].source(text) for name in self.names_in(path))

    @property
    def patch(self) -> str:
        """The patch that adds the new tests to the project."""
        return diff_files(self.before, self.files)

    @property
    def test_files(self) -> tuple[TestFile, ...]:
        """The files with new tests."""
        return tuple(TestFile(path, text) for path, text in self.files.items())

    def owns(self, path: str) -> bool:
        """Return whether a file of a traceback is code of the project, and no test."""
        return path in self.before and not is_test_path(path)

    def name_of(self, test: str) -> str | None:
        """Return `path::name` of a new test, by id or bare name; None where there is none."""
        bare = test.partition("[")[0]
        if bare in self.functions:
            return bare
        ends = [name for name in self.functions if name.endswith(f"::{bare}")]
        return ends[0] if len(ends) == 1 else None

    def source(self, test: str) -> str:
        """Return a test's source, also of the project's own; '' where it is not known."""
        path, _, name = test.partition("[")[0].partition("::")
        text = self.files.get(path) or self.before.get(path, "")
        found = (item for item in parse_test_functions(text) if item.name == name)
        return next((item.source(text) for item in found), "")

    def source_in_context(self, test: str) -> str:
        """Return a new test with what it uses of its file."""
        path, _, name = (self.name_of(test) or test).partition("::")
        return show_with_definitions(self.files.get(path, ""), name) or self.source(test)

    def origin(self, test: str) -> Origin:
        """Return `generated` for new tests that a model wrote, else `given`."""
        return "given" if self.is_given or self.name_of(test) is None else "generated"

    def requirements(self, test: str) -> tuple[str, ...]:
        """Return the ids of the requirements that a new test names."""
        name = self.name_of(test)
        return self.functions[name].requirements if name else ()

    def may_be_disputed(self, test: str) -> bool:
        """Return whether a test may be wrong: the project's and the user's are locked."""
        return self.origin(test) == "generated"

    def is_active(self, test: str) -> bool:
        """Return whether a test still counts."""
        return test.partition("[")[0] not in {item.name for item in self.dropped}

    def drop(self, test: str, reason: str, *, disputed: bool) -> ChangeSuite:
        """Return the suite without one new test, listed in `dropped`; locked tests are kept."""
        name = self.name_of(test)
        if name is None or self.is_given:
            return self
        gone = DroppedTest(name, self.requirements(name), "generated", reason, disputed)
        path, _, function = name.partition("::")
        text = remove_test(self.files[path], function)
        is_left = path in self.before or parse_test_functions(text)
        rest = {other: code for other, code in self.files.items() if other != path}
        return replace(
            self,
            files={**rest, **({path: text} if is_left else {})},
            ids=frozenset(item for item in self.ids if item.partition("[")[0] != name),
            dropped=(*self.dropped, gone),
        )

    def names_in(self, path: str) -> list[str]:
        """Return the new tests of a file."""
        return [name for name in self.functions if name.startswith(f"{path}::")]

    def proves_change(self, test: str) -> bool:
        """Return whether a test names a requirement of the change, not of what stays."""
        return any(item.startswith("R") for item in self.requirements(test))
