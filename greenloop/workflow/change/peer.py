"""Second implementation of a wish: an independent patch, compared with the green one."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from greenloop.grading.peer.comparison import Comparison, PeerProgram, list_failures
from greenloop.project.code_map.interface import select_module
from greenloop.project.comparison.peers import PeerChanges, compare_peers
from greenloop.project.runner import ProjectRunner
from greenloop.project.tree import ProjectTree
from greenloop.records.generation import DifferenceRuling, GeneratedPeer
from greenloop.sandbox import Sandbox
from greenloop.workflow.change.unchanged import write_wish
from greenloop.workflow.change.workspace import ChangeWorkspace
from greenloop.workflow.peer.compare_peer import PeerComparer
from greenloop.workflow.peer.comparison import SavedComparison, compare_and_save, seed_of
from greenloop.workflow.peer.rulings import OpenDifference


class ChangePeerComparer(PeerComparer):
    """Comparison of a green change with one peer; inputs answered wrongly become tests."""

    def __init__(
        self, space: ChangeWorkspace, write: Callable[[], Awaitable[GeneratedPeer]]
    ) -> None:
        """`write` requests the peer, a patch, from the model."""
        super().__init__(space.run)
        self._space, self._write = space, write

    @property
    def text(self) -> str:
        return write_wish(self._state.agreed_contract)

    async def _write_peer(self, short: Comparison | None = None) -> PeerProgram | None:
        written = await self._write()
        return PeerProgram(written.code, written.inputs)

    async def _run_comparison(self, peer: PeerProgram) -> SavedComparison:
        suite, contract = self._state.change_suite, self._state.agreed_contract
        other = self._lay_out(peer.code)
        changes = PeerChanges(
            self._lay_out(self._state.candidates.current.code),
            other,
            contract.interface,
            contract.text_with_answers,
            peer.inputs,
            frozenset(suite.files),
        )
        calls, seed = [item.call for item in suite.held_out], seed_of(self._run)

        def find_failing(box: Sandbox) -> dict[str, str]:
            failures = list_failures(ProjectRunner(box, other).run({}, sorted(suite.ids)))
            return {test: failures[test] for test in sorted(failures) if test in suite.ids}

        def compare(box: Sandbox, failing: Collection[str]) -> Comparison:
            return compare_peers(box, replace(changes, failing=failing), calls, seed)

        return await compare_and_save(self._run, peer, find_failing, compare)

    def _lay_out(self, patch: str) -> ProjectTree:
        """Return the project with a patch and the new tests."""
        return self._space.tree.with_changes(
            {**self._space.apply(patch), **self._state.change_suite.files}
        )

    def _change_tests(self, item: OpenDifference, ruling: DifferenceRuling) -> str:
        if not item.test and not select_module(self._state.change_suite.interface, item.found.call):
            return ""  # the module that a test would import is unknown
        return super()._change_tests(item, ruling)
