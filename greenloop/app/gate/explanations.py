"""What in a change says that behaviour was to change: a document, a docstring, a new test of it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening import WeakenedTest
from greenloop.project.weakening.checks import list_values
from greenloop.project.weakening.matching import list_called
from greenloop.project.weakening.tests import ComparedTest, read_tests
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import is_test_path

_DOCUMENTS = (".md", ".rst", ".txt", ".adoc")
_WORD = re.compile(r"\w+")
_MIN_WORD = 3


@dataclass(frozen=True)
class Explanations:
    """What a change says of itself."""

    diff: ProjectDiff
    changed_paths: Sequence[str]

    def cover(self, item: WeakenedTest) -> bool:
        """Return whether the change says that what a test expected was to change.

        A document says so for all tests. A new test does for those that call what it calls, another one
        that asks for the same values now, and a text that the code has now for those that expect it.
        """
        if self._is_documented or self._is_tested_anew(item):
            return True
        return self._is_asked_elsewhere(item) or self._is_written_out(item)

    @cached_property
    def _is_documented(self) -> bool:
        if any(path.endswith(_DOCUMENTS) for path in self.changed_paths):
            return True
        pairs = ((self.diff.before[path] or "", self._read(path)) for path in self._code)
        return any(_has_changed_docstring(*pair) for pair in pairs)

    def _read(self, path: str) -> str:
        return self.diff.tree.texts.get(path, "")

    @property
    def _code(self) -> list[str]:
        return [path for path in self.diff.before if not is_test_path(path)]

    @cached_property
    def _tests_before(self) -> Mapping[str, ComparedTest]:
        return read_tests({p: t for p, t in self.diff.before.items() if t and is_test_path(p)})

    @cached_property
    def _tests_now(self) -> Mapping[str, ComparedTest]:
        return read_tests({p: self._read(p) for p in self.diff.before if is_test_path(p)})

    @property
    def _new_tests(self) -> Iterator[ComparedTest]:
        return (item for test, item in self._tests_now.items() if test not in self._tests_before)

    def _is_tested_anew(self, item: WeakenedTest) -> bool:
        old = self._tests_before.get(item.was)
        called = (list_called(old) if old else set()) - {*dir(builtins), "raises", "approx"}
        return any(not called or called & list_called(new) for new in self._new_tests)

    def _is_asked_elsewhere(self, item: WeakenedTest) -> bool:
        """Return whether another test has the values of a check or case now that it did not have."""
        values = list_values(parse_or_empty(item.before.removeprefix("case ")))
        gained = (
            now.values - self._tests_before[test].values
            for test, now in self._tests_now.items()
            if test in self._tests_before and test not in (item.was, item.test)
        )
        return bool(values) and any(values <= more for more in gained)

    def _is_written_out(self, item: WeakenedTest) -> bool:
        """Return whether the new words of an expectation are such as the change puts into the code."""
        before, after = (set(_WORD.findall(text)) for text in (item.before, item.after))
        new = after - before
        is_text = all(len(word) >= _MIN_WORD and not word.isdigit() for word in new)
        return bool(new) and is_text and new <= self._added_words

    @cached_property
    def _added_words(self) -> set[str]:
        found: set[str] = set()
        for path in self._code:
            lines = self._read(path).split("\n")
            numbers = self.diff.lines.get(path, ())
            found.update(w for n in numbers if n <= len(lines) for w in _WORD.findall(lines[n - 1]))
        return found


def _has_changed_docstring(before: str, after: str) -> bool:
    """Return whether something that was there before has another docstring now."""
    old, new = _list_docstrings(before), _list_docstrings(after)
    return any(name in new and new[name] not in ("", text) for name, text in old.items())


def _list_docstrings(text: str) -> dict[str, str]:
    tree = parse_or_empty(text)
    named = {item.name: item for item in ast.walk(tree) if isinstance(item, Definition)}
    return {name: ast.get_docstring(item) or "" for name, item in {**named, "": tree}.items()}
