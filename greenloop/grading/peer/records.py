"""What a comparison of two programs takes and gives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PeerProgram:
    """A second implementation, and the source of its `inputs(rng)` and `allowed(*arguments)`.

    `inputs` yields tuples of arguments; of several public names each tuple begins with the name, as
    the arguments of `allowed` do. For a class it yields lists of calls, the first of which makes
    the object: `[("Stack", 3), ("push", 1), ("pop",)]`. An `allowed` with a parameter `earlier` gets
    the calls before one on its object in this form. The source sees the names of the module.
    """

    code: str
    inputs: str


@dataclass(frozen=True)
class FoundDifference:
    """A call that the two programs answer differently, its texts bounded."""

    call: str  # an expression, or statements of which the last is what is compared
    code: str
    peer: str
    peer_literal: str | None = None  # as Python source; None where it is no plain value
    cluster: tuple[str, ...] = ()  # differences of one often have one cause
    helpers: str = ""  # the definitions of a test file that it uses
    callee: str = ""  # what of the module statements call, where `helpers` do not import it


@dataclass(frozen=True)
class Comparison:
    """What two programs answered on the same inputs."""

    inputs: int = 0
    allowed: int = 0
    agreed: int = 0
    differences: tuple[FoundDifference, ...] = ()
    differing_tests: tuple[str, ...] = ()  # functions of tests with an input that differs
    slower: tuple[str, ...] = ()  # calls on which the code costs far more than the peer
    problem: str = ""  # why nothing, or not all, could be compared
    is_exhausted: bool = False  # there are no other inputs
