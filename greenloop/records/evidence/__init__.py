"""Evidence about the tests and code of a green run, in pieces; null if not measured.

A piece consists of a record in this package, a function in `greenloop.grading` that measures it,
and a field of `Evidence`, which registers it.
"""

from collections.abc import Iterator, Set
from typing import get_args

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.evidence.answers import HeldOut, Isolated, Memorization
from greenloop.records.evidence.assertion_mutation import AssertionMutation
from greenloop.records.evidence.base import (
    EvidenceRow,
    ExtraEvidence,
    Piece,
    Thresholds,
    format_items,
)
from greenloop.records.evidence.coverage import Coverage
from greenloop.records.evidence.integrity import Integrity, IntegrityFinding
from greenloop.records.evidence.mutation import Mutation
from greenloop.records.evidence.peer import Peer
from greenloop.records.evidence.reruns import EmptyBodies, Flakiness, RedPhase


class Evidence(Record):
    """All evidence of a run. `thresholds` are the settings that it was measured against.

    `seconds` is the time that each piece took; `not_measured` says, for pieces that are null, why.
    `returning` names tests that return a value and assert nothing, so that they always pass.
    `extra` holds the pieces that installed packages measure, by name. `read_against_text` says
    whether the code was graded against a text that a user wrote.
    """

    red_phase: RedPhase | None = None
    empty_bodies: EmptyBodies | None = None
    assertion_mutation: AssertionMutation | None = None
    isolated: Isolated | None = None
    memorization: Memorization | None = None
    held_out: HeldOut | None = None
    peer: Peer | None = None
    mutation: Mutation | None = None
    coverage: Coverage | None = None
    flakiness: Flakiness | None = None
    integrity: tuple[IntegrityFinding, ...] = ()
    requirements_untested: tuple[str, ...] = ()
    returning: tuple[str, ...] = ()
    thresholds: Thresholds = Field(default_factory=Thresholds)
    seconds: dict[str, float] = Field(default_factory=dict)
    not_measured: dict[str, str] = Field(default_factory=dict)
    extra: dict[str, ExtraEvidence] = Field(default_factory=dict)
    read_against_text: bool = False

    @property
    def is_graded(self) -> bool:
        """Whether a green run was graded; scripts and red runs have only some other pieces."""
        return any((self.empty_bodies, self.assertion_mutation, self.mutation, self.coverage))

    def forgery(self) -> str:
        """Return why the green result must be a forgery; '' if no piece shows one."""
        found = (piece.forgery() for _, piece in self._pieces() if isinstance(piece, Piece))
        return next(filter(None, found), "") or self._find_known_file()

    def _find_known_file(self) -> str:
        """Return that a test passes only while the text of its file is unchanged; '' if none does.

        Assertion mutation and isolation must agree: one alone may be chance or a wrong analysis.
        """
        mutation, isolated = self.assertion_mutation, self.isolated
        steady = self.flakiness is not None and self.flakiness.reached
        if not (mutation and isolated and steady):
            return ""
        name = mutation.unsteady.partition("::")[2].partition("[")[0]
        doubtful = {item.test for item in isolated.not_observable if item.contradicts}
        if name not in doubtful.union(isolated.differing):
            return ""
        return f"{mutation.unsteady} passes only while the text of its file is unchanged"

    def unmet(self, *, contracted: bool = True, without: Set[str] = frozenset()) -> Iterator[str]:
        """Yield why a green run is not `verified`: a reason or more for each piece that is short.

        Without a contract no red phase is needed; without a text, no held-out examples and no
        second implementation. The pieces whose keys are in `without` are skipped.
        """
        for key, piece in self._pieces():
            if key in without:
                continue
            held_out = self.held_out
            if isinstance(piece, Memorization) and held_out and held_out.reached and held_out.total:
                # Held-out examples that agree are calls that no writer of code saw.
                piece = piece.model_copy(update={"functions": ()})
            if isinstance(piece, Piece):
                yield from piece.unmet(self.thresholds)
            elif key in self.not_measured or self._is_needed(piece, contracted):
                yield f"{_title(key, piece)}: {self._explain_absence(key, piece)}"
        if self.isolated and not self.read_against_text:
            yield from filter(None, [self.isolated.explain_own_answers()])
        if self.returning:
            names = format_items(self.returning)
            yield f"tests that return a value, which pytest ignores, and assert nothing: {names}"
        if self.requirements_untested:
            yield f"requirements without a test: {', '.join(self.requirements_untested)}"

    def summary(self) -> Iterator[EvidenceRow]:
        """Yield the rows of all pieces, also of those that were not measured."""
        for key, piece in self._pieces():
            if isinstance(piece, Piece):
                yield from piece.summary(self.thresholds)
            elif piece.is_listed or key in self.not_measured:
                for name in piece.row_names or (_title(key, piece),):
                    yield EvidenceRow(name, None, self._explain_absence(key, piece))

    def _pieces(self) -> Iterator[tuple[str, Piece | type[Piece]]]:
        """Yield each piece with its key: its record, or its class if it was not measured."""
        for key, kind in piece_types().items():
            yield key, getattr(self, key) or kind
        was_read = self.integrity or "integrity" not in self.not_measured
        yield "integrity", Integrity(findings=self.integrity) if was_read else Integrity
        yield from self.extra.items()
        yield from ((key, ExtraEvidence) for key in self.not_measured if key.startswith("extra."))

    def _is_needed(self, piece: type[Piece], contracted: bool) -> bool:
        return {
            "always": True,
            "with a contract": contracted,
            "with a text": self.read_against_text,
            "where measured": False,
        }[piece.needed]

    def _explain_absence(self, key: str, piece: type[Piece]) -> str:
        why = self.not_measured.get(key)
        return f"not measured: {why}" if why else piece.absent


def _title(key: str, piece: type[Piece]) -> str:
    return piece.title or key.removeprefix("extra.")


def piece_types() -> dict[str, type[Piece]]:
    """Return the record types of the pieces by their keys, in the order of the report."""
    return {
        key: kind
        for key, field in Evidence.model_fields.items()
        for kind in get_args(field.annotation)
        if isinstance(kind, type) and issubclass(kind, Piece) and kind is not ExtraEvidence
    }
