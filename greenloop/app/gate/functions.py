"""Changed functions with too few tests: untested lines and surviving mutants."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening.names import list_moved_functions
from greenloop.records import Coverage, Evidence
from greenloop.records.evidence.mutation import Survivor
from greenloop.reporting.evidence.survivors import build_survivor_row
from greenloop.syntax.nodes import Function, get_line_span
from greenloop.syntax.parse import parse_or_empty
from greenloop.syntax.source import LINE_END
from greenloop.testsuite.parser import is_test_path

ANSWERED = re.compile(r"#\s*greenloop:[\w ]*\bbecause +\w+ +\w+.*")
MAX_SURVIVORS = 5
MAX_ANSWERS = 3  # answered survivors that count in one piece of work
_MAX_PLACES = 8
_HIDDEN = re.compile(r"assert |(self|cls)\._\w+( *:[^=]+)? *[-+*/|&]?= ")


@dataclass(frozen=True)
class ChangedFunctions:
    """Changed functions with the coverage and mutation results of their lines.

    A function is reported only if no test runs most of its changed lines (half of a new function),
    or notices most of its mutants: no project has tests for everything, and tests written only to
    close the gap are bad. Mutants at module level (versions, tables) and moved functions are not
    reported.
    """

    evidence: Evidence
    texts: Mapping[str, str]
    # Functions that were moved without a change, and those with a new head, as `path:first line`.
    moved: Collection[str] = ()
    added: Collection[str] = ()

    @cached_property
    def _functions(self) -> dict[str, dict[int, int]]:
        return {path: _map_lines(text) for path, text in self.texts.items() if path in self._paths}

    @property
    def _paths(self) -> set[str]:
        coverage, mutation = self.evidence.coverage, self.evidence.mutation
        places = [*coverage.missed_places, *coverage.tested_places] if coverage else []
        tried = mutation.tried if mutation else ()
        return {place.rpartition(":")[0] for place in places} | {_get_path(i.id) for i in tried}

    def _find(self, path: str, line: int) -> str:
        """Return the function around a line as `path:first line`, line 0 at module level."""
        return f"{path}:{self._functions.get(path, {}).get(line, 0)}"

    def _count(self, places: Sequence[str]) -> Counter[str]:
        split = (place.rpartition(":") for place in places)
        return Counter(self._find(path, int(line)) for path, _, line in split)

    def list_untested(self) -> Iterator[str]:
        """Yield a line with the untested places of functions whose lines mostly are not run."""
        coverage = self.evidence.coverage
        if coverage is None or coverage.line >= self.evidence.thresholds.line_coverage:
            return
        noticed = self._list_noticed(coverage)
        places = [place for place in coverage.missed_places if place not in noticed]
        missed, run = self._count(places), self._count([*coverage.tested_places, *noticed])
        split = ((place, *place.rpartition(":")[::2]) for place in places)
        found = ((place, self._find(path, int(line))) for place, path, line in split)
        new = ((place, name) for place, name in found if name not in self.moved)
        left = [i for i, name in new if missed[name] + (name in self.added) > run[name]]
        if left:
            yield (
                f"no test runs {_join_places(left)}: add tests that call the new behaviour and "
                "assert what it returns"
            )

    def _list_noticed(self, coverage: Coverage) -> set[str]:
        """Return the missed places with a noticed mutant: a test runs them in another process."""
        mutation, missed = self.evidence.mutation, {*coverage.missed_places}
        first: dict[str, list[int]] = {}
        for path, _, line in (i.rpartition(":") for i in [*missed, *coverage.tested_places]):
            first.setdefault(path, []).append(int(line))
        found = set()
        for item in mutation.tried if mutation else ():
            path = _get_path(item.id)
            above = [line for line in first.get(path, ()) if line <= item.line]
            if item.is_noticed and above:
                found.add(f"{path}:{max(above)}")
        return found & missed

    def list_survivors(self, said: str) -> Iterator[str]:
        """Yield a line for each surviving mutant of a function with too many of them."""
        mutation = self.evidence.mutation
        if mutation is None:
            return
        found = [i for i in mutation.survived if i.reached and not self._is_hidden(i)]
        lived = Counter(self._find(item.path, item.line) for item in found)
        noticed = (item for item in mutation.tried if item.is_noticed)
        killed = Counter(self._find(_get_path(item.id), item.line) for item in noticed)
        seen: set[str] = set()
        answered: set[str] = set()
        for item in sorted(found, key=lambda item: (item.path, item.line)):
            name = self._find(item.path, item.line)
            too_many = lived[name] > max(1, killed[name])
            if not too_many or name.endswith(":0") or name in self.moved:
                continue
            if self._is_answered(item, said) and len(answered | {item.place}) <= MAX_ANSWERS:
                answered.add(item.place)
            elif item.place not in seen and len(seen) < MAX_SURVIVORS:
                seen.add(item.place)
                yield f"{item.place} no test notices this fault: {build_survivor_row(item).advice}"

    def is_moved(self, path: str, line: int) -> bool:
        """Return whether a line is in a function that was moved without a change."""
        return self._find(path, line) in self.moved

    def _is_hidden(self, survivor: Survivor) -> bool:
        """Return whether a mutant is in an assertion or a private attribute: no caller sees it."""
        line = LINE_END.split(self.texts.get(survivor.path, ""))[survivor.line - 1 : survivor.line]
        return any(_HIDDEN.match(text.strip()) for text in line)

    def _is_answered(self, survivor: Survivor, said: str) -> bool:
        """Return whether a comment at the line, or the agent's message, answers a mutant."""
        lines = LINE_END.split(self.texts.get(survivor.path, ""))
        around = lines[max(0, survivor.line - 2) : survivor.line]
        return any(map(ANSWERED.search, around)) or f"{survivor.path}:{survivor.line}" in said


def find_moved(diff: ProjectDiff) -> set[str]:
    """Return the moved functions of changed code files, as `path:first line`."""
    old, now = diff.before, diff.tree.texts
    code = [path for path in diff.lines if not is_test_path(path)]
    before = {path: text for path, text in old.items() if text and not is_test_path(path)}
    moved = list_moved_functions(before, {path: now[path] for path in code})
    return {f"{path}:{get_line_span(node)[0]}" for path, node in moved}


def find_added(diff: ProjectDiff) -> set[str]:
    """Return the functions with a new or changed head, as `path:first line`."""
    found = ((path, node) for path in diff.lines for node in _iter_functions(diff.tree.texts[path]))
    chosen = ((path, node) for path, node in found if node.lineno in diff.lines[path])
    return {f"{path}:{get_line_span(node)[0]}" for path, node in chosen}


def _get_path(mutant: str) -> str:
    """Return the path in a mutant's id, `path:id`."""
    return mutant.partition(".py:")[0] + ".py"


def _map_lines(text: str) -> dict[int, int]:
    """Return, for each line in a function, the first line of the innermost function."""
    found: dict[int, int] = {}
    for node in _iter_functions(text):
        first, last = get_line_span(node)
        found.update(dict.fromkeys(range(first, last + 1), first))
    return found


def _iter_functions(text: str) -> Iterator[Function]:
    """Yield all functions of a text, the outer ones first."""
    return (node for node in ast.walk(parse_or_empty(text)) if isinstance(node, Function))


def _join_places(places: Sequence[str]) -> str:
    """Return `path:line` places as text, with only the first of consecutive lines."""
    split = {(path, int(line)): None for path, _, line in (i.rpartition(":") for i in places)}
    found = [f"{path}:{line}" for path, line in split if (path, line - 1) not in split]
    more = f" and {len(found) - _MAX_PLACES} more places" if len(found) > _MAX_PLACES else ""
    return ", ".join(found[:_MAX_PLACES]) + more
