"""What a comparison of two programs takes and gives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PeerProgram:
    """A second implementation, and the source of its `inputs(rng)` and `allowed(*arguments)`.

    `inputs` yields tuples of arguments; of several public names each tuple begins with the name, as the
    arguments of `allowed` do. For a class it yields lists of calls, the first of which makes the object:
    `[("Stack", 3), ("push", 1), ("pop",)]`. The source sees the names of the module.
    """

    code: str
    inputs: str


@dataclass(frozen=True)
class FoundDifference:
    """A call that the two programs answer differently, its texts bounded.

    `call` is an expression, or statements of which the last is the expression that is compared. A
    literal is the answer as Python source; None where it is no plain value. Differences of one
    `cluster` often have one cause. `helpers` are the definitions of a test file that it uses.
    """

    call: str
    code: str
    peer: str
    code_literal: str | None = None
    peer_literal: str | None = None
    cluster: tuple[str, ...] = ()
    helpers: str = ""


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
