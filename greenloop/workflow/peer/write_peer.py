"""Requests for a second implementation, once more where the first is of no use."""

from textwrap import shorten

from greenloop.grading.peer.comparison import Comparison, PeerProgram
from greenloop.records.generation import GeneratedPeer
from greenloop.tools.peer_toolkit import FailedExample, PeerToolkit
from greenloop.workflow.peer.comparison import find_failing_examples
from greenloop.workflow.state import Run

_MAX_TRIES = 2
_MAX_MESSAGE_CHARS = 300


class PeerWriter:
    """Writer of one peer; `tries_left` is the number of calls that may still be made."""

    def __init__(self, run: Run, tries: int = _MAX_TRIES) -> None:
        self._run, self.tries_left = run, tries
        self._written: GeneratedPeer | None = None

    async def write(self, short: Comparison | None = None) -> PeerProgram | None:
        """Return a peer that agrees with the text's own examples; None if no try is left.

        `short` is the comparison with the peer written before, to which too few inputs were given.
        Raises GreenloopError: a call failed.
        """
        run, state = self._run, self._run.state
        contract, suite = state.agreed_contract, state.tests
        tools = PeerToolkit(run.client.with_fallback_first(), prompts=run.kit.prompts)
        contradicted: list[FailedExample] = []
        while self.tries_left:
            self.tries_left -= 1
            written = await tools.write_peer(contract, contradicted, self._written, short)
            self._written, short = written, None
            peer = PeerProgram(written.code, written.inputs)
            failing = await find_failing_examples(run, peer)
            contradicted = [
                FailedExample(suite.source(item), shorten(message, _MAX_MESSAGE_CHARS))
                for item, message in failing.items()
            ]
            if not contradicted:
                return peer
        return None
