"""What a comparison of two programs takes and gives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PeerProgram:
    """A second implementation, and the source of its `inputs(rng)` and `allowed(*arguments)`."""

    code: str
    inputs: str


@dataclass(frozen=True)
class FoundDifference:
    """A call that the two programs answer differently, its texts bounded.

    A literal is the answer as Python source; None where it is no plain value.
    """

    call: str
    code: str
    peer: str
    code_literal: str | None = None
    peer_literal: str | None = None


@dataclass(frozen=True)
class Comparison:
    """What two programs answered on the same inputs.

    `slower` names calls on which the code costs far more than the peer; `problem` is one line that says why
    nothing, or not all, could be compared.
    """

    inputs: int = 0
    allowed: int = 0
    agreed: int = 0
    differences: tuple[FoundDifference, ...] = ()
    slower: tuple[str, ...] = ()
    problem: str = ""
