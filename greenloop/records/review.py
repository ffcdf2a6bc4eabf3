"""Review of code by a model."""

from collections.abc import Iterator
from typing import Literal

from greenloop.records.base import Record

Severity = Literal["error", "warning", "style"]


class Finding(Record):
    """One finding of a review; `line` is None where none fits."""

    line: int | None
    severity: Severity
    message: str
    resolved: bool = False

    def __str__(self) -> str:
        return f"- L{self.line if self.line is not None else '?'} {self.severity}: {self.message}"


class Review(Record):
    """The findings of one review; none is LGTM.

    `confirmed` are the numbers of the passages that ask for nothing, `needless` those of the open
    choices that need no answer, both according to the reviewer.
    """

    findings: tuple[Finding, ...] = ()
    confirmed: tuple[int, ...] = ()
    needless: tuple[int, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(item for item in self.findings if item.severity == "error")

    @property
    def of_correctness(self) -> tuple[Finding, ...]:
        """The unresolved errors and warnings, which may make a result wrong."""
        return tuple(i for i in self.findings if i.severity != "style" and not i.resolved)

    def unmet(self) -> Iterator[str]:
        """Yield the findings that keep a green run from `verified`, each with its remedy."""
        for item in self.of_correctness:
            where = f"line {item.line}: " if item.line is not None else ""
            remedy = "state in the text what should hold, or fix the code"
            yield f"the review's {item.severity} stands: {where}{item.message}: {remedy}"

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self.findings) or "LGTM"
