"""Records of a comparison of two programs: the peer, the differences, and the result."""

from dataclasses import dataclass

from greenloop.records.evidence.peer import MIN_ALLOWED_INPUTS


@dataclass(frozen=True)
class PeerProgram:
    """A second implementation, and the source of its `inputs(rng)` and `allowed(*arguments)`.

    `inputs` yields tuples of arguments; with several public names, each tuple begins with the name,
    as the arguments of `allowed` do. For a class it yields lists of calls, the first of which makes
    the object: `[("Stack", 3), ("push", 1), ("pop",)]`. If `allowed` has a parameter `earlier`, it
    gets the earlier calls on the same object in this form. The source sees the module's names.
    """

    code: str
    inputs: str


@dataclass(frozen=True)
class FoundDifference:
    """A call that the two programs answer differently; the texts are bounded in length."""

    call: str  # an expression, or statements of which the last is compared
    code: str
    peer: str
    peer_literal: str | None = None  # as Python source; None if it is no plain value
    cluster: tuple[str, ...] = ()  # differences of one cluster often have one cause
    helpers: str = ""  # the definitions of a test file that `call` uses
    callee: str = ""  # the function that `call` calls, if `helpers` do not import it


@dataclass(frozen=True)
class Comparison:
    """Result of the comparison of two programs on the same inputs."""

    inputs: int = 0
    allowed: int = 0
    agreed: int = 0
    differences: tuple[FoundDifference, ...] = ()
    differing_tests: tuple[str, ...] = ()  # functions of tests with an input that differs
    slower: tuple[str, ...] = ()  # calls on which the code costs far more than the peer
    problem: str = ""  # why nothing, or not all, could be compared
    is_exhausted: bool = False  # no other inputs were found
    refused: tuple[str, ...] = ()  # some of the inputs that the precondition refuses

    @property
    def lacks_inputs(self) -> bool:
        """Whether precondition or generator leave too few inputs, although there may be others."""
        is_few = self.allowed < MIN_ALLOWED_INPUTS and not self.is_exhausted
        return is_few and bool(self.refused or self.problem)
