"""Announcements of changed behaviour in the documents, docstrings and new tests of a change."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from greenloop.app.diff_tests import list_code_names
from greenloop.app.gate.words import (
    MIN_WORD,
    WORD,
    join_sentences,
    list_changed_docstrings,
    list_code,
    list_docstring_lines,
    list_test_words,
    list_texts,
    list_words,
)
from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening import WeakenedTest
from greenloop.project.weakening.doctests import are_examples_run, read_all
from greenloop.project.weakening.names import list_variables
from greenloop.project.weakening.tests import ComparedTest, list_called, pair_tests, read_tests
from greenloop.records import BaselineResult
from greenloop.syntax.source import LINE_END
from greenloop.testsuite.parser import is_test_path

_ANNOUNCING = re.compile(
    r"\b(now|instead|rather than|no longer|previously|formerly|used to|since version|older versions|"
    r"defaults?|(version)?changed?|changes|fix(es|ed)?|breaking|been (removed|dropped)|(removed|dropped) in)\b"
    r"|^\W*(removed?|drop(ped)?|deleted?)\b",
    re.I,
)
_WEAKER = ("looser", "fewer checks")


@dataclass(frozen=True)
class Explanations:
    """Announcements in the documents, docstrings and tests of a change.

    `known` has the results of the earlier tests. What equally describes tests that still hold
    announces nothing.
    """

    diff: ProjectDiff
    document_lines: Sequence[str]
    known: BaselineResult = field(default_factory=BaselineResult)

    def cover(self, item: WeakenedTest) -> bool:
        """Return whether the change announces that the expectation of a test was to change.

        It does so by words of the test in a document or docstring, by a new test that calls the
        same code, or by a new text in the code that the test expects.
        """
        is_told = item.was in self.known.extended or self.is_documented(item)
        return is_told or self._is_tested_anew(item) or self._is_written_out(item)

    def is_documented(self, item: WeakenedTest) -> bool:
        """Return whether changed lines of documents and docstrings tell what a test shows.

        Two words of the test do: of its name, the names it calls, its old and new expectation,
        without those of most other tests of the file that still hold. One is enough in a line that
        announces a change, and if it names a function of the project. A test that is gone needs a
        line that announces a change. For a weaker test it is a word in which the two expectations
        differ, and no variable of the test. Other output in a data file is told by any line that announces a change.
        """
        old, texts = self._find_old(item.was), (item.before, item.after)
        is_data = item.kind == "data" and not item.before.endswith(".py")
        if self._is_weaker(item):
            words = set() if item.kind == "data" else list_words(texts[0]) ^ list_words(texts[1])
            variables = list_variables(texts[0]) | list_variables(texts[1])
            words -= list_words(*(list_called(old) if old else ()), *(variables - self._defined))
            return not words.isdisjoint(self._said)
        if is_data and any(map(_ANNOUNCING.search, self.lines)):
            return True
        words = list_words(*(texts if item.kind != "rewritten" else texts[:1]))
        words |= list_test_words(old) if old else set()
        words -= self._list_common(item.was, list_test_words)
        is_gone = item.kind == "removed"  # a document of a new function does not tell that
        code = self._list_shown_code(item)
        telling = (
            self._announced | code | (set() if is_gone else list_words(*self._list_own_calls(item)))
        )
        told = (words & self._said) | code
        is_told = bool(told & telling) or words == told != set()
        return is_told or (len(told) > 1 and not is_gone)

    def _is_weaker(self, item: WeakenedTest) -> bool:
        """Return whether a test asserts less, or passes without the change and failed before."""
        is_outdated = item.was in self.known.outdated
        return item.kind in _WEAKER or (is_outdated and item.was in self.known.indifferent)

    def _list_common(self, test: str, read: Callable[[ComparedTest], set[str]]) -> set[str]:
        """Return the words of most other tests of a class, or else of a file, that still hold."""
        others, place = self._read_file(test.partition("::")[0]).items(), test.rpartition("::")[0]
        alike = [(name, item) for name, item in others if name.rpartition("::")[0] == place]
        without = (test, *self.known.outdated)
        holding = [item for name, item in alike if name not in without and not item.is_helper]
        counts = Counter(word for item in holding for word in read(item))
        return {word for word, count in counts.items() if count > max(1, len(holding) / 2)}

    def _find_old(self, test: str) -> ComparedTest | None:
        return self._read_file(test.partition("::")[0]).get(test) or self._tests_before.get(test)

    def _read_file(self, path: str) -> Mapping[str, ComparedTest]:
        """Return the earlier tests of a file, which need not be changed."""
        return read_tests({path: self.diff.texts_before.get(path, "")})

    @cached_property
    def lines(self) -> list[str]:
        """The changed lines of documents and docstrings."""
        pairs = ((self.diff.before[path] or "", self._read(path)) for path in self._code)
        are_tests = are_examples_run(self.diff.tree.project.all_files)
        docstrings = (line for i in pairs for line in list_changed_docstrings(*i, are_tests))
        return [*self.document_lines, *docstrings]

    @cached_property
    def _said(self) -> set[str]:
        return list_words(*self.lines)

    @cached_property
    def _announcing(self) -> list[str]:
        return [*filter(_ANNOUNCING.search, join_sentences(self.lines))]

    @cached_property
    def _announced(self) -> set[str]:
        return list_words(*self._announcing)

    def _read(self, path: str) -> str:
        return self.diff.tree.texts.get(path, "")

    @property
    def _code(self) -> list[str]:
        return [path for path in self.diff.before if not is_test_path(path)]

    @cached_property
    def _tests_before(self) -> Mapping[str, ComparedTest]:
        return read_all({path: text or "" for path, text in self.diff.before.items()})

    @cached_property
    def _tests_now(self) -> Mapping[str, ComparedTest]:
        return read_all({path: self._read(path) for path in self.diff.before})

    @property
    def _new_tests(self) -> Iterator[ComparedTest]:
        """Tests that are new, no longer skipped, or have more checks or cases than before.

        Helpers are left out: the tests that call them have their checks. More checks of a test whose
        old version fails explain nothing: its expectations changed as well.
        """
        was, extended, outdated = self._was, self.known.extended, self.known.outdated
        tests = (item for item in self._tests_now.items() if not item[1].is_helper)
        every = [item for item in tests if item[0] not in self.known.indifferent]
        return (
            item
            for test, item in every
            if test not in was
            or test in extended
            or (_asks_more(was[test], item) and was[test].test not in outdated)
        )

    @cached_property
    def _defined(self) -> set[str]:
        """The names of functions and classes that the project's code has or had."""
        return list_code_names(self.diff.texts_before) | list_code_names(self.diff.tree.texts)

    @cached_property
    def _was(self) -> Mapping[str, ComparedTest]:
        """The old versions of present tests by new node id."""
        pairs = pair_tests(self._tests_before, self._tests_now).items()
        return {now.test: self._tests_before[old] for old, now in pairs}

    def are_for_other_machines(self, skipped: Collection[str]) -> bool:
        """Return whether most tests that the change adds are skipped on this machine or Python."""
        skipped = {test.partition("[")[0] for test in skipped}
        added = [i for test, i in self._tests_now.items() if test not in self._was]
        added = [item for item in added if not item.is_helper]
        elsewhere = [item for item in added if item.test in skipped and not item.skip]
        return 2 * len(elsewhere) > len(added)

    def _is_tested_anew(self, item: WeakenedTest) -> bool:
        old = self._find_old(item.was)
        is_gone = item.kind == "removed"
        if old and (is_gone or self._is_weaker(item)):  # it could have asserted the new behaviour
            checks = (i for i in old.checks if is_gone or i.shown == item.before)
            lost = {(i.subject, i.strength) for i in checks}
            new = (i for test in self._new_tests for i in test.checks if "(" in i.subject)
            return any((i.subject, i.strength) in lost for i in new)
        called = self._list_own_calls(item)
        return any(called & list_called(new) for new in self._new_tests)

    def _list_shown_code(self, item: WeakenedTest) -> set[str]:
        """Return the code in sentences that announce a change which a test has, and few others."""
        spans = {span for line in self._announcing for span in list_code(line)}
        shown = {span for span in spans if span in f"{item.before}\n{item.after}"}
        return shown - self._list_common(
            item.was, lambda i: {part for part in shown if part in i.body}
        )

    def _list_own_calls(self, item: WeakenedTest) -> set[str]:
        """Return the project's functions that a test calls, and most tests that hold do not."""
        old = self._find_old(item.was)
        called = list_called(old) & self._defined if old else set()
        return called - self._list_common(item.was, list_called)

    def _is_written_out(self, item: WeakenedTest) -> bool:
        """Return whether the change adds a text, or all new words, of an expectation to the code.

        The words are new in their file, or the code and the test exchange the same words. A test that
        also passes without the change does not require these.
        """
        if item.kind == "indifferent":
            return False
        is_other = item.kind == "expectation"  # the test is not weaker
        written = self._added_texts if is_other else ()
        if any(text in item.after and text not in item.before for text in written):
            return True
        before, after = (set(WORD.findall(text)) for text in (item.before, item.after))
        lost, added = self._exchanged_words
        is_same = is_other and _is_among(before - after, lost)
        return _is_among(after - before, self._added_words | (added if is_same else set()))

    @cached_property
    def _exchanged_words(self) -> tuple[set[str], set[str]]:
        """The words that a file of code has less often than before, and those more often."""
        texts = [(self.diff.before[path] or "", self._read(path)) for path in self._code]
        counts = [[Counter(WORD.findall(text)) for text in both] for both in texts]
        lost = {word for old, new in counts for word in old - new}
        return lost, {word for old, new in counts for word in new - old}

    def _list_new_lines(self, path: str) -> set[int]:
        """Return the new and changed lines of a file without docstrings."""
        return {*self.diff.lines.get(path, ())} - list_docstring_lines(self._read(path))

    @cached_property
    def _added_words(self) -> set[str]:
        """The words of changed lines of code that their file did not have before."""
        found: set[str] = set()
        for path in self._code:
            lines = LINE_END.split(self._read(path))
            numbers = self._list_new_lines(path)
            known = {*WORD.findall(self.diff.before[path] or "")}
            words = (w for n in numbers if n <= len(lines) for w in WORD.findall(lines[n - 1]))
            found.update(word for word in words if word not in known)
        return found

    @cached_property
    def _added_texts(self) -> set[str]:
        """The string literals in changed code whose text their file did not have before."""
        found: set[str] = set()
        for path in self._code:
            known = "\n".join(text for text, _ in list_texts(self.diff.before[path] or ""))
            lines = self._list_new_lines(path)
            texts = (text for text, line in list_texts(self._read(path)) if line in lines)
            found.update(text for text in texts if text not in known)
        return found


def _is_among(words: set[str], known: set[str]) -> bool:
    """Return whether there are words, all of them known, and none is short or a number."""
    is_text = all(len(word) >= MIN_WORD and not word.isdigit() for word in words)
    return bool(words) and is_text and words <= known


def _asks_more(old: ComparedTest, now: ComparedTest) -> bool:
    counts = [len(item.checks) for item in (old, now)]
    return not now.skip and (bool(old.skip) or counts[0] < counts[1])
