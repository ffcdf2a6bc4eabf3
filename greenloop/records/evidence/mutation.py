"""Mutants of the code, and which of them the tests notice."""

import re
from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.base import Record
from greenloop.records.evidence.base import (
    EvidenceRow,
    Piece,
    Thresholds,
    format_minimum,
    format_share,
)

_HUNK = re.compile(r"^@@ .*\n", re.MULTILINE)


class Survivor(Record, extra="ignore"):
    """A mutant that no test noticed: `before` became `after`.

    `diff` is a unified diff with two lines of context. `reached`: whether any test runs its line.
    `function` is a dotted name, '' at module level. `reason` says why it needs no test, in the words
    of the model that was asked for one. `path` is the file in a project, '' for a single module.
    """

    id: str
    line: int
    function: str
    operator: str
    diff: str
    reached: bool
    before: str = ""
    after: str = ""
    reason: str = ""
    path: str = ""

    @property
    def place(self) -> str:
        """The line in words, with the file in a project."""
        return f"{self.path}:{self.line}" if self.path else f"line {self.line}"

    @property
    def changed_lines(self) -> str:
        """The removed and added lines of `diff`, for readers who see no other code."""
        body = _HUNK.split(self.diff, maxsplit=1)[-1]
        return "\n".join(line for line in body.split("\n") if line[:1] in ("-", "+"))


class EquivalentMutant(Survivor):
    """A survivor that does not count, and the reason."""

    reason: str


class MutantResult(Record):
    """A mutant and its outcome: `before` was changed to `after` at `line`.

    `outcome` is `killed`, `timeout`, `crashed` (all three: noticed, by `test`), `survived`,
    `uncovered` (no test runs its line), `error` or `not_run`.
    """

    id: str
    line: int
    operator: str
    before: str
    after: str
    outcome: str
    test: str = ""

    @property
    def is_noticed(self) -> bool:
        """Whether a test noticed the mutant."""
        return self.outcome in ("killed", "timeout", "crashed")


class Mutation(Piece):
    """Mutants of the code: noticed by the tests or survived.

    `score` is the share of noticed mutants among those tried, between 0 and 1; it is None if too few
    could be tried, and `trouble` says why. Noticed mutants are `killed` (a test failed), `timeout` (a
    test took far longer) or `crashed` (the process ended in a test). Of the `generated` mutants,
    `equivalent_suspects` were left out as probably equivalent, and `sampled` of the others were
    chosen by `seed`. Those in `equivalent` survived and do not count. `errors` could not be tried,
    `not_run` ran out of time. `tried` has each chosen mutant with its outcome.
    """

    title: ClassVar[str] = "mutants"
    measured_by: ClassVar[str] = "greenloop.grading.mutants:measure"

    score: float | None
    killed: int
    survived: tuple[Survivor, ...] = ()
    equivalent: tuple[EquivalentMutant, ...] = ()
    timeout: int = 0
    equivalent_suspects: int = 0
    crashed: int = 0
    errors: int = 0
    not_run: int = 0
    generated: int = 0
    sampled: int = 0
    seed: int = 0
    seconds: float = 0.0
    trouble: str = ""
    tried: tuple[MutantResult, ...] = ()

    @property
    def noticed(self) -> int:
        """The number of mutants that a test noticed."""
        return self.killed + self.timeout + self.crashed

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        threshold = thresholds.mutation_score
        if self.score is None or self.trouble:
            yield EvidenceRow(self.title, False, self.trouble, "", self.score, threshold)
            return
        share, reached = format_share(self.score, threshold), self.score >= threshold
        apart = f", {len(self.equivalent)} not counted" if self.equivalent else ""
        total = self.noticed + len(self.survived)
        faults = "small fault" if total == 1 else "small faults"
        text = f"{share} ({format_minimum(threshold)}) of {total} {faults} noticed"
        text += f", {len(self.survived)} not{apart}"
        yield EvidenceRow(self.title, reached, text, share, self.score, threshold)
