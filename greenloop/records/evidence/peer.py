"""Comparison of the code with a second implementation (peer), which is written from the text."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from greenloop.records.base import Record
from greenloop.records.evidence.base import EvidenceRow, Needed, Piece, Thresholds, format_items

MIN_ALLOWED_INPUTS = 50
Ruling = Literal[
    "code is wrong",
    "peer is wrong",
    "both are wrong",
    "wording is free",
    "outside the text",
    "text does not say",
]
_SETTLED = ("peer is wrong", "wording is free", "outside the text")


class Difference(Record):
    """An input on which code and peer answer differently, and the judge's ruling.

    `call` is the input as Python source, `code` and `peer` are the answers as text. `ruling` is
    None if it was not judged. `choice` is the id of the open choice, and `test` the name of the
    test, that was made of it.
    """

    call: str
    code: str
    peer: str
    ruling: Ruling | None = None
    because: str = ""
    choice: str = ""
    test: str = ""

    @property
    def counts_against(self) -> bool:
        """Whether the difference itself keeps the code from `verified`: nothing has settled it.

        A test or an open choice that was made of it counts instead.
        """
        return self.ruling not in _SETTLED and not (self.test or self.choice)

    @property
    def outcome(self) -> str:
        """The ruling in words, with the test or open choice that was made of the input."""
        became = f", a test: {self.test}" if self.test else ""
        became += f", an open choice: {self.choice}" if self.choice else ""
        said = (self.ruling or "not judged").replace("peer", "second implementation")
        return f"{said}{became}"


class Peer(Piece):
    """The comparison with the second implementation (peer): inputs tried, allowed, and answered alike.

    `slower` are inputs on which the code takes far more time than the peer. `problem` says why not
    all could be compared. `is_exhausted`: there are no other inputs.
    """

    title: ClassVar[str] = "second implementation"
    needed: ClassVar[Needed] = "with a text"
    absent: ClassVar[str] = "no second implementation was compared"
    is_listed: ClassVar[bool] = False

    inputs: int = 0
    allowed: int = 0
    agreed: int = 0
    differences: tuple[Difference, ...] = ()
    slower: tuple[str, ...] = ()
    problem: str = ""
    is_exhausted: bool = False

    @property
    def reached(self) -> bool:
        """Whether enough inputs agree and no difference counts against the code."""
        against = any(item.counts_against for item in self.differences)
        return self.is_enough and not against and not self.slower

    @property
    def is_enough(self) -> bool:
        """Whether `MIN_ALLOWED_INPUTS` agree, or the majority if there are no more inputs."""
        return self.agreed >= MIN_ALLOWED_INPUTS or (
            self.is_exhausted and 2 * self.agreed > self.allowed
        )

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        brief = f"{self.agreed}/{self.allowed}"
        yield EvidenceRow(self.title, self.reached, self._describe(), brief)

    def _describe(self) -> str:
        against = [item for item in self.differences if item.counts_against]
        wrong = [item for item in against if item.ruling in ("code is wrong", "both are wrong")]
        if against:
            calls = [item.call.replace("\n", "; ") for item in wrong or against]
            what = "the text contradicts the code on" if wrong else "answers differ on"
            return f"{what} {format_items(calls)}"
        if not self.is_enough:
            differ = f", and {self.agreed} of them agree" * (self.agreed < self.allowed)
            few = (
                f"only {self.allowed} inputs were compared{differ} (at least {MIN_ALLOWED_INPUTS})"
            )
            return f"{few}: {self.problem}" if self.problem else few
        if self.slower:
            return f"the code is far slower than the second implementation on {format_items(self.slower)}"
        others = self.allowed - self.agreed
        return f"{self.agreed} of {self.allowed} inputs agree with a second implementation" + (
            f"; on the other {others}: {self._explain_others()}" if others else ""
        )

    def _explain_others(self) -> str:
        """Return how the inputs on which code and peer differ were settled."""
        rulings = {item.ruling for item in self.differences}
        choices = sorted({item.choice for item in self.differences if item.choice})
        tests = {item.test for item in self.differences if item.test}
        parts = (
            "wording that the text leaves free" * ("wording is free" in rulings),
            "inputs that the text does not mention" * ("outside the text" in rulings),
            "the second implementation is wrong" * ("peer is wrong" in rulings),
            f"choices {', '.join(choices)}" * bool(choices),
            "tests were added" * bool(tests),
        )
        return ", ".join(filter(None, parts)) or "nobody judged them"
