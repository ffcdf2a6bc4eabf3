"""Suite of a run: its tests and their origins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

from greenloop.records import HeldOutExample, Origin
from greenloop.testsuite.held_out_examples import render_held_out_test
from greenloop.testsuite.merge import append_tests
from greenloop.testsuite.parser import (
    TestFunction,
    get_function_name,
    parse_test_functions,
    remove_tests,
)
from greenloop.testsuite.used_definitions import show_with_definitions

HELD_OUT_TEST_PREFIX = "test_held_out_example_"
PEER_TEST_PREFIX = "test_peer_input_"
_EXAMPLE_TEST_PREFIX = "test_specification_example_"
ANSWER_TEST_PREFIX = "test_answer_of_the_user_"


@dataclass(frozen=True)
class TestFile:
    """A pytest file of the run's working folder."""

    __test__ = False

    name: str
    code: str
    locked: bool = False  # written by the user


def read_conftest(files: Iterable[TestFile]) -> str:
    """Return the source of the conftest.py among test files; '' if there is none."""
    return next((item.code for item in files if item.name == "conftest.py"), "")


def find_added_origin(name: str) -> Origin | None:
    """Return the origin of a test that the workflow generates without a model; None for others."""
    name = name.rpartition("::")[2]
    origins: dict[str, Origin] = {
        _EXAMPLE_TEST_PREFIX: "example",
        HELD_OUT_TEST_PREFIX: "held_out",
        PEER_TEST_PREFIX: "peer",
        ANSWER_TEST_PREFIX: "answer",
    }
    return next((origin for start, origin in origins.items() if name.startswith(start)), None)


@dataclass(frozen=True, slots=True)
class DroppedTest:
    """A test that no longer counts, and why: judged wrong, or green on the stub."""

    name: str
    requirements: tuple[str, ...]
    origin: Origin
    reason: str
    disputed: bool


@dataclass(frozen=True)
class Suite:
    """All tests of a run."""

    module: str
    generated: str = ""  # the model's file
    hardening: str = ""  # the model's tests added against surviving mutants
    examples: str = ""  # tests of the specification's examples
    # Tests of held-out examples that failed, and of inputs that a peer answers rightly.
    revealed: str = ""
    answers: str = ""  # tests of the user's answers to open choices
    user_files: tuple[TestFile, ...] = ()
    held_out: tuple[HeldOutExample, ...] = ()
    dropped: tuple[DroppedTest, ...] = ()
    path: str = ""  # of the module within a project
    public: frozenset[str] = frozenset()  # the names of the module's interface

    def owns(self, path: str) -> bool:
        """Return whether a file of a traceback is the module's."""
        return path == (self.path or f"{self.module}.py")

    @property
    def known(self) -> frozenset[str]:
        """The names that a call of the module may use; none if its interface is not known."""
        return self.public.union(self.module.split(".")) if self.public else frozenset()

    @property
    def file_name(self) -> str:
        """The generated file's name, different from those of the user's files."""
        name = f"test_{self.module}.py"
        taken = {item.name for item in self.user_files}
        return name if name not in taken else f"test_{self.module}_generated.py"

    @cached_property
    def code(self) -> str:
        """The generated file as the user gets it."""
        parts = (self.generated, self.hardening, self.revealed, self.answers)
        own = "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"
        return append_tests(own, self.examples) if self.examples else own

    @cached_property
    def files(self) -> tuple[TestFile, ...]:
        """All files of a test run."""
        own = (TestFile(self.file_name, self.code),) if self.code.strip() else ()
        return (*own, *self.user_files)

    @cached_property
    def functions(self) -> tuple[tuple[TestFile, TestFunction], ...]:
        """All tests with their files, parsed once."""
        return tuple(
            (file, item) for file in self.files for item in parse_test_functions(file.code)
        )

    def find(self, test: str) -> tuple[TestFile, TestFunction] | None:
        """Return a test by id or name, from the file that the id names or from any."""
        name, file_name = get_function_name(test), test.partition("::")[0]
        found = [(file, item) for file, item in self.functions if item.name == name]
        if not found:
            bare = [(f, i) for f, i in self.functions if i.name.rsplit("::", 1)[-1] == name]
            found = bare if len(bare) == 1 else []
        named = [pair for pair in found if pair[0].name == file_name]
        return next(iter(named + found), None)

    def name_of(self, test: str) -> str | None:
        """Return a test's name in its file, by id or name; None if there is no such test."""
        found = self.find(test)
        return found[1].name if found else None

    def source(self, test: str) -> str:
        """Return a test's source; '' if it is not known."""
        found = self.find(test)
        return found[1].source(found[0].code) if found else ""

    def source_in_context(self, test: str) -> str:
        """Return a test with the definitions of its file that it uses; '' if it is not known."""
        found = self.find(test)
        whole = show_with_definitions(found[0].code, found[1].name) if found else ""
        return whole or self.source(test)

    def origin(self, test: str) -> Origin:
        """Return a test's origin, by id or name."""
        found = self.find(test)
        name = get_function_name(test)
        is_file = any(item.name == test for item in self.user_files)  # skipped as a whole
        if (found and found[0].locked) or is_file:
            return "given"
        written: Origin = "hardening" if name in self._hardening_names else "generated"
        return find_added_origin(name) or written

    @cached_property
    def _hardening_names(self) -> frozenset[str]:
        return frozenset(item.name for item in parse_test_functions(self.hardening))

    def requirements(self, test: str) -> tuple[str, ...]:
        """Return the ids of the requirements that a test names."""
        found = self.find(test)
        return found[1].requirements if found else ()

    def may_be_disputed(self, test: str) -> bool:
        """Return whether a test may be wrong: the user's files and answers are locked."""
        return self.find(test) is not None and self.origin(test) not in ("given", "answer")

    def is_active(self, test: str) -> bool:
        """Return whether a test still counts; only tests of the generated file are dropped."""
        file_name, _, _ = test.partition("::")
        dropped = {item.name for item in self.dropped}
        return file_name != self.file_name or get_function_name(test) not in dropped

    def drop(self, test: str, reason: str, *, disputed: bool) -> Suite:
        """Return the suite without one test, listed in `dropped`; locked tests are kept."""
        found = self.find(test)
        if found is None or self.origin(test) in ("given", "example", "answer"):
            return self
        name = found[1].name
        dropped = DroppedTest(name, found[1].requirements, self.origin(test), reason, disputed)
        return replace(
            self,
            generated=remove_tests(self.generated, {name}),
            hardening=remove_tests(self.hardening, {name}),
            revealed=remove_tests(self.revealed, {name}),
            dropped=(*self.dropped, dropped),
        )

    def leave_out_answer(self, test: str, reason: str) -> Suite:
        """Return the suite without an answer's test that no code can pass, listed in `dropped`."""
        name, needs = get_function_name(test), self.requirements(test)
        dropped = DroppedTest(name, needs, "answer", reason, disputed=False)
        answers = remove_tests(self.answers, {name})
        return replace(self, answers=answers, dropped=(*self.dropped, dropped))

    def harden(self, code: str) -> Suite:
        """Return the suite with tests added against surviving mutants."""
        return replace(self, hardening=f"{self.hardening}\n\n\n{code}".strip("\n"))

    def reveal(self, example: HeldOutExample) -> Suite:
        """Return the suite with a failed held-out example as a test, which the model may see."""
        test = self._render(self._next_name(HELD_OUT_TEST_PREFIX), example)
        kept = tuple(item for item in self.held_out if item != example)
        return replace(self._with_revealed(test), held_out=kept)

    def add_peer_test(self, example: HeldOutExample, about: str) -> tuple[Suite, str]:
        """Return the suite with a test of an input that a peer answers rightly, and its name."""
        name = self._next_name(PEER_TEST_PREFIX)
        return self._with_revealed(self._render(name, example, about)), name

    def with_answers(self, tests: Mapping[str, tuple[HeldOutExample, str]]) -> Suite:
        """Return the suite with tests of the user's answers: examples and docstrings, by name."""
        dropped = {item.name for item in self.dropped}
        wanted = {name: item for name, item in tests.items() if name not in dropped}
        rendered = (self._render(name, *item) for name, item in wanted.items())
        return replace(self, answers="\n\n".join(rendered))

    def _render(self, name: str, example: HeldOutExample, about: str = "") -> str:
        return render_held_out_test(self.module, name, example, about, self.public)

    @property
    def names(self) -> frozenset[str]:
        """The names of all tests."""
        return frozenset(item.name for _, item in self.functions)

    def _next_name(self, prefix: str) -> str:
        dropped = {item.name for item in self.dropped}
        names = (f"{prefix}{number}" for number in count(1))
        return next(
            name for name in names if name not in dropped and f"def {name}(" not in self.revealed
        )

    def _with_revealed(self, test: str) -> Suite:
        return replace(self, revealed=f"{self.revealed}\n\n{test}".strip("\n"))
