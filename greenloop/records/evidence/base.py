"""Base class of all pieces of evidence, their rows for reports, and their thresholds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from greenloop.records.base import Record


class Thresholds(Record):
    """Minimum shares between 0 and 1, and the maximum seconds of one piece.

    Each is a setting (`GREENLOOP_MIN_…`); docs/grading.md gives the reason of each default.
    `seconds` is checked between runs: each run has a limit of its own.
    """

    held_out_agreement: float = Field(default=1.0, ge=0, le=1)
    mutation_score: float = Field(default=0.8, ge=0, le=1)
    assertion_mutation: float = Field(default=0.5, ge=0, le=1)
    line_coverage: float = Field(default=0.9, ge=0, le=1)
    branch_coverage: float = Field(default=0.8, ge=0, le=1)
    seconds: float = Field(default=60.0, gt=0)


_MAX_DIGITS = 10  # decimal places of a percentage
Needed = Literal["always", "with a contract", "with a text", "where measured"]


@dataclass(frozen=True)
class EvidenceRow:
    """One line about a piece of evidence. `reached` is None where nothing was measured.

    `brief` is the result in a few characters, `text` in words. `share` and `threshold` are between
    0 and 1, None where there is no such number.
    """

    name: str
    reached: bool | None
    text: str
    brief: str = ""
    share: float | None = None
    threshold: float | None = None

    @property
    def state(self) -> str:
        """`ok`, `short` or `none`."""
        return {True: "ok", False: "short", None: "none"}[self.reached]


class Piece(Record):
    """Base class of the pieces in `Evidence`.

    `measured_by` names the function that measures the piece, as `module:function`, '' if the
    workflow does. `needed` says when a missing record is a shortfall, which `absent` describes;
    `is_listed` says whether a missing record is shown as a row.
    """

    title: ClassVar[str]
    row_names: ClassVar[tuple[str, ...]] = ()
    measured_by: ClassVar[str] = ""
    needed: ClassVar[Needed] = "always"
    absent: ClassVar[str] = "not measured"
    is_listed: ClassVar[bool] = True

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        """Yield the measured values as rows, compared with the thresholds."""
        raise NotImplementedError

    def unmet(self, thresholds: Thresholds) -> Iterator[str]:
        """Yield a reason for each row that does not reach its threshold."""
        for row in self.summary(thresholds):
            if row.reached is False:
                yield f"{row.name}: {row.text}"

    def disturbance(self) -> str:
        """Return the problem that a busy machine may have caused; '' if there is none.

        A record that may have one has a field `cut_short` for it.
        """
        return ""

    def forgery(self) -> str:
        """Return why only a forgery explains the result; '' if something else may."""
        return ""


class ExtraEvidence(Piece):
    """A piece that an installed package measures (entry point `greenloop.evidence`).

    `text` says what was measured, `reasons` why it falls short, `values` are the package's own.
    """

    title: ClassVar[str] = ""
    needed: ClassVar[Needed] = "where measured"

    name: str = ""
    reached: bool
    text: str
    reasons: tuple[str, ...] = ()
    values: dict[str, JsonValue] = Field(default_factory=dict)

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        yield EvidenceRow(self.name, self.reached, self.text, "ok" if self.reached else "SHORT")

    def unmet(self, thresholds: Thresholds) -> Iterator[str]:
        reasons = self.reasons or (() if self.reached else (self.text,))
        yield from (f"{self.name}: {reason}" for reason in reasons)


def format_items(items: Sequence[object], limit: int = 3) -> str:
    """Return items separated by commas, with the number of those beyond the limit."""
    more = len(items) - limit
    shown = ", ".join(map(str, items[:limit]))
    return f"{shown} (and {more} more)" if more > 0 else shown


def format_minimum(threshold: float) -> str:
    """Return a threshold in words, with all its digits."""
    return f"at least {threshold * 100:.10g}%"


def format_share(share: float, threshold: float) -> str:
    """Return a share in percent, with the digits that distinguish it from the threshold and 100."""
    limits = (round(threshold * 100, _MAX_DIGITS), 100.0)
    for digits in range(_MAX_DIGITS):
        text = f"{share * 100:.{digits}f}"
        if all((float(text) >= at) == (round(share * 100, _MAX_DIGITS) >= at) for at in limits):
            return f"{text}%"
    return f"{share * 100}%"
