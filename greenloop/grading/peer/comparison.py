"""A search for inputs that the code and its peer answer differently."""

from collections.abc import Sequence

from greenloop.grading.peer.records import Comparison, FoundDifference, PeerProgram
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile

__all__ = ["Comparison", "FoundDifference", "PeerProgram", "check_peer", "compare_programs"]


def compare_programs(
    sandbox: Sandbox,
    *,
    module: str,
    code: str,
    peer: PeerProgram,
    interface: str,
    specification: str,
    tests: Sequence[TestFile],
    examples: Sequence[str],
    seed: str,
    budget_s: float = 3.0,
) -> Comparison:
    """Compare two programs on inputs fixed by `seed`; `examples` are calls as source text."""
    return Comparison(problem="the comparison is not built yet")


def check_peer(
    sandbox: Sandbox, *, module: str, peer: PeerProgram, tests: Sequence[TestFile]
) -> tuple[str, ...]:
    """Return the ids of the tests that the peer fails."""
    return ()
