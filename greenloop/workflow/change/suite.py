"""The tests of a change: new ones, and those of the project that are locked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

from greenloop.project.code_map.interface import select_module
from greenloop.project.patch import diff_files
from greenloop.records import HeldOutExample, Origin
from greenloop.testsuite.held_out_examples import render_held_out_test
from greenloop.testsuite.parser import (
    TestFunction,
    is_test_path,
    parse_test_functions,
    remove_tests,
)
from greenloop.testsuite.suite import (
    HELD_OUT_TEST_PREFIX,
    PEER_TEST_PREFIX,
    DroppedTest,
    find_added_origin,
)
from greenloop.testsuite.used_definitions import show_with_definitions


@dataclass(frozen=True)
class ChangeSuite:
    """New and locked tests, with the interface of a test suite for loop and report."""

    before: Mapping[str, str]  # texts of all files of the project before the change
    files: Mapping[str, str] = field(default_factory=dict)  # texts of the files with new tests
    locked: frozenset[str] = frozenset()  # node ids that have to go on passing
    is_given: bool = False  # the new tests are the user's
    ids: frozenset[str] = frozenset()  # node ids of the new tests, known after their first run
    dropped: tuple[DroppedTest, ...] = ()
    held_out: tuple[HeldOutExample, ...] = ()
    interface: str = ""  # of the contract
    hardening: frozenset[str] = frozenset()  # new tests that were added for mutants
    file_name: str = ""  # always '': ids of tests have their paths

    @cached_property
    def functions(self) -> dict[str, TestFunction]:
        """The new tests by `path::name`: those whose source the project does not have yet.

        A test of the user that the project has is new, too, unless it is locked: it fails today.
        """
        known = {path: self._list_known_sources(path) for path in self.files}
        return {
            f"{path}::{item.name}": item
            for path, text in self.files.items()
            for item in parse_test_functions(text)
            if item.source(text) not in known[path]
        }

    def _list_known_sources(self, path: str) -> set[str]:
        text, locked = self.before.get(path, ""), {item.partition("[")[0] for item in self.locked}
        return {
            item.source(text)
            for item in parse_test_functions(text)
            if not self.is_given or f"{path}::{item.name}" in locked
        }

    @cached_property
    def code(self) -> str:
        """The source of the new tests, file by file."""
        return "\n\n".join(f"# file: {path}\n{self.get_added(path)}" for path in self._kept_files)

    def get_added(self, path: str) -> str:
        """Return the new tests of a file; a new file is returned whole."""
        text = self.files[path]
        if path not in self.before:
            return text
        return "\n\n".join(self.functions[name].source(text) for name in self.names_in(path))

    @property
    def patch(self) -> str:
        """The patch that adds the new tests to the project."""
        return diff_files(self.before, self._kept_files)

    @property
    def _kept_files(self) -> Mapping[str, str]:
        """The files without new ones that lost all tests, which stay for tests that are added."""
        cut = {item.name.partition("::")[0] for item in self.dropped} - self.before.keys()
        texts = self.files.items()
        return {path: text for path, text in texts if path not in cut or parse_test_functions(text)}

    def owns(self, path: str) -> bool:
        """Return whether a file of a traceback is code of the project, not a test."""
        return path in self.before and not is_test_path(path)

    def name_of(self, test: str) -> str | None:
        """Return `path::name` of a new test, by id or bare name; None without one."""
        bare = test.partition("[")[0]
        if bare in self.functions:
            return bare
        ends = [name for name in self.functions if name.endswith(f"::{bare}")]
        return ends[0] if len(ends) == 1 else None

    def source(self, test: str) -> str:
        """Return the source of a new test or one of the project; '' if it is unknown."""
        path, _, name = test.partition("[")[0].partition("::")
        text = self.files.get(path) or self.before.get(path, "")
        found = (item for item in parse_test_functions(text) if item.name == name)
        return next((item.source(text) for item in found), "")

    def source_in_context(self, test: str) -> str:
        """Return a new test with the definitions of its file that it uses."""
        path, _, name = (self.name_of(test) or test).partition("::")
        return show_with_definitions(self.files.get(path, ""), name) or self.source(test)

    def origin(self, test: str) -> Origin:
        """Return how a new test was added, such as `generated` or `hardening`; else `given`."""
        if self.is_given or (name := self.name_of(test)) is None:
            return "given"
        written: Origin = "hardening" if name in self.hardening else "generated"
        return find_added_origin(name) or written

    def requirements(self, test: str) -> tuple[str, ...]:
        """Return the ids of the requirements that a new test names."""
        name = self.name_of(test)
        return self.functions[name].requirements if name else ()

    def may_be_disputed(self, test: str) -> bool:
        """Return whether a test may be disputed: the project's and the user's are locked."""
        return self.origin(test) not in ("given", "answer")

    def is_active(self, test: str) -> bool:
        """Return whether a test still counts."""
        return test.partition("[")[0] not in {item.name for item in self.dropped}

    def drop(self, test: str, reason: str, *, disputed: bool) -> ChangeSuite:
        """Return the suite without one new test, listed in `dropped`; locked tests are kept."""
        name = self.name_of(test)
        if name is None or not self.may_be_disputed(name):
            return self
        gone = DroppedTest(name, self.requirements(name), self.origin(name), reason, disputed)
        path, _, function = name.partition("::")
        return replace(
            self,
            files={**self.files, path: remove_tests(self.files[path], {function})},
            ids=frozenset(item for item in self.ids if item.partition("[")[0] != name),
            dropped=(*self.dropped, gone),
        )

    def reveal(self, example: HeldOutExample) -> ChangeSuite:
        """Return the suite with a failed held-out example as a test, which the model may see."""
        kept = tuple(item for item in self.held_out if item != example)
        name = self._next_name(HELD_OUT_TEST_PREFIX)
        return replace(self._add(name, example), held_out=kept)

    def add_peer_test(self, example: HeldOutExample, about: str) -> tuple[ChangeSuite, str]:
        """Return the suite with a test of an input that the code answers wrongly, and its name."""
        name = self._next_name(PEER_TEST_PREFIX)
        return self._add(name, example, about), name

    def with_answers(self, tests: Mapping[str, tuple[HeldOutExample, str]]) -> ChangeSuite:
        """Return the suite with the user's answers as tests: example and docstring by name."""
        suite = self
        for name, (example, about) in tests.items():
            if self.name_of(name) is None:
                suite = suite._add(name, example, about)
        return suite

    @property
    def names(self) -> frozenset[str]:
        """The names of the new tests, with their paths."""
        return frozenset(self.functions)

    def _next_name(self, prefix: str) -> str:
        names = (*self.names, *(item.name for item in self.dropped))
        taken = {name.rpartition("::")[2] for name in names}
        return next(name for n in count(1) if (name := f"{prefix}{n}") not in taken)

    def _add(self, name: str, example: HeldOutExample, about: str = "") -> ChangeSuite:
        """Return the suite with a test in its last file; unchanged without a module to import."""
        if not (module := select_module(self.interface, example.call)):
            return self
        path, text = self.last_file
        test = render_held_out_test(module, name, example, about)
        files = {**self.files, path: f"{text.rstrip()}\n\n\n{test}"}
        return replace(self, files=files, ids=self.ids | {f"{path}::{name}"})

    @property
    def last_file(self) -> tuple[str, str]:
        """The path and the text of the file that further tests are added to."""
        return list(self.files.items())[-1]

    def names_in(self, path: str) -> list[str]:
        """Return the names of the new tests of a file."""
        return [name for name in self.functions if name.startswith(f"{path}::")]

    def proves_change(self, test: str) -> bool:
        """Return whether a test names a requirement (R…), not only kept behaviour (K…)."""
        return any(item.startswith("R") for item in self.requirements(test))
