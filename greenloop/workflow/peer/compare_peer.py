"""Second implementation: differences between green code and its peer, judged by the text alone."""

from collections.abc import Awaitable, Callable, Sequence

from greenloop.errors import BudgetExhaustedError, ModelFailure, SandboxError, SettingsError
from greenloop.events import PeerCompared
from greenloop.grading.peer.comparison import Comparison, PeerProgram
from greenloop.records import Difference, Peer, Review
from greenloop.records.evidence.peer import Ruling
from greenloop.records.generation import DifferenceRuling
from greenloop.testsuite.parser import get_function_name
from greenloop.workflow.peer.comparison import (
    SavedComparison,
    compare_with_peer,
    request_rulings,
)
from greenloop.workflow.peer.rulings import (
    OpenDifference,
    describe_test,
    from_tests,
    spread_clusters,
)
from greenloop.workflow.peer.write_peer import PeerWriter
from greenloop.workflow.state import Run

_MAX_JUDGED = 5  # in one call
_MAX_ROUNDS = 3
# SettingsError: with --max-cost, a fallback model of unknown price cannot be called.
_FAILURES = (ModelFailure, BudgetExhaustedError, SandboxError, SettingsError)


class PeerComparer:
    """Comparison of green code with one peer; inputs that the code answers wrongly become tests.

    A failed or unusable call leaves the green run as it is, without this piece of evidence. Tests
    are changed only with `repairs`.
    """

    def __init__(
        self,
        run: Run,
        *,
        repairs: bool = True,
        repair_findings: Callable[[Run], Awaitable[bool]] | None = None,
    ) -> None:
        """`repair_findings` repairs open errors of the review, which no test can show."""
        self._run, self._state, self._repairs = run, run.state, repairs
        self._repair_findings = repair_findings
        self._peer: PeerProgram | None = None
        self._writer = PeerWriter(run, tries=0)
        self._taken: dict[str, str] = {}  # the answers to open questions that the peer was given
        self._rounds_left = _MAX_ROUNDS
        self._judged: dict[tuple[str, ...], Difference] = {}
        self._asked: dict[tuple[str, ...], str] = {}  # choice ids by cluster and by reason
        self._absent = "" if run.settings.peer else "--no-peer was given; run without it"

    async def compare(self) -> bool:
        """Compare the current candidate. Return whether tests have to run again."""
        if self._state.green_run is None or self._state.forgery_reason:
            return False
        try:
            if (self._peer is None or self.is_outdated) and not self._absent:
                self._peer, self._taken = None, self._list_answers()
                self._peer = await self._write_peer()
            if self._peer is not None:
                return await self._compare(self._peer)
        except _FAILURES as error:
            self._absent = str(error)
        self._set_absent(f"no second implementation was compared: {self._absent}")
        return False

    @property
    def is_outdated(self) -> bool:
        """Whether answers to open questions have changed since the peer was written."""
        now = self._list_answers()
        return any(now.get(question, taken) != taken for question, taken in self._taken.items())

    def _list_answers(self) -> dict[str, str]:
        return {item.question: item.chosen for item in self._state.agreed_contract.choices}

    def _set_absent(self, why: str) -> None:
        evidence = self._state.evidence
        not_measured = {**evidence.not_measured, "peer": why}
        absent = {"not_measured": not_measured, "peer": None}
        self._state.evidence = evidence.model_copy(update=absent)
        if self._run.settings.peer:
            self._run.notify_once("peer", why)

    async def _write_peer(self, short: Comparison | None = None) -> PeerProgram | None:
        """Return a peer that agrees with the text's own examples, or None and why there is none.

        `short` is the comparison with the peer written before, to which too few inputs were given.
        """
        if short is None:
            self._writer = PeerWriter(self._run)
        if (peer := await self._writer.write(short)) is None:
            self._absent = "the second implementation contradicts the text's own examples, twice"
        return peer

    async def _compare(self, peer: PeerProgram) -> bool:
        done = await self._run_comparison(peer)
        if done.comparison.lacks_inputs and self._writer.tries_left:
            done = await self._compare_again(done)
        if done.comparison.problem:
            self._run.notify(f"second implementation: {done.comparison.problem}")
        present = self._list_differences(done)
        changed = False
        while not changed and self._rounds_left:
            if not (left := [item for item in present if item.key not in self._judged]):
                break
            changed = await self._judge(left[:_MAX_JUDGED])
        self._report(done.comparison, present)
        return changed

    async def _compare_again(self, done: SavedComparison) -> SavedComparison:
        """Compare with a peer that is written once more because its inputs were too few.

        Return the first comparison where that call fails.
        """
        try:
            peer = await self._write_peer(done.comparison)
        except _FAILURES as error:
            self._run.notify(f"second implementation: no more inputs were written: {error}")
            peer, self._writer = None, PeerWriter(self._run, tries=0)
        if peer is None:
            self._absent = ""
            return done
        self._peer = peer
        return await self._run_comparison(peer)

    async def _run_comparison(self, peer: PeerProgram) -> SavedComparison:
        judged = [call for call, *answers in self._judged if answers]
        return await compare_with_peer(self._run, peer, judged)

    @property
    def text(self) -> str:
        """The text that the judge reads."""
        return self._state.agreed_contract.text_with_answers

    def _list_differences(self, done: SavedComparison) -> list[OpenDifference]:
        """Return the differences in answers, then in tests, without those that the user decided."""
        state = self._state
        answered = {item.question for item in state.agreed_contract.choices if item.answered}
        failing = {test: why for test, why in done.failing.items() if self._may_be_wrong(test)}
        found = [OpenDifference(item) for item in done.comparison.differences]
        found += from_tests(failing, state.code_tests)
        return spread_clusters(i for i in found if i.build_choice(1).question not in answered)

    def _may_be_wrong(self, test: str) -> bool:
        """Whether the judge may rule against a test; with `repairs` not against locked ones."""
        suite = self._state.code_tests
        return suite.is_active(test) and (not self._repairs or suite.may_be_disputed(test))

    async def _judge(self, differences: Sequence[OpenDifference]) -> bool:
        """Request rulings on differences; return whether they changed tests or code."""
        self._rounds_left -= 1
        try:
            rulings = await request_rulings(self._run, self.text, differences)
        except _FAILURES as error:
            self._run.notify(f"differences from the second implementation are not judged: {error}")
            self._rounds_left = 0
            return False
        before, findings = self._state.suite, self._state.review.findings
        for item, (ruling, meaning) in zip(differences, rulings, strict=True):
            self._judged[item.key] = self._apply(item, ruling, meaning)
        if self._repair_findings and self._state.review.findings != findings:
            return await self._repair_findings(self._run) or self._state.suite is not before
        return self._state.suite is not before

    def _apply(self, item: OpenDifference, ruling: DifferenceRuling, meaning: Ruling) -> Difference:
        record = item.to_record(meaning, ruling.because)
        if not record.counts_against:
            return record
        can_repair = self._repairs and self._state.repairs < self._run.settings.max_repairs
        may_change = can_repair and record.ruling != "text does not say"
        test = self._change_tests(item, ruling) if may_change else ""
        if may_change and self._repair_findings and (item.test or not test):
            findings = *self._state.review.findings, item.build_finding(record.because)
            self._state.review = Review(findings=findings)
        if test:
            return record.model_copy(update={"test": test})
        if record.ruling == "code is wrong":
            return record
        return record.model_copy(update={"choice": self._add_choice(item, record.because)})

    def _change_tests(self, item: OpenDifference, ruling: DifferenceRuling) -> str:
        """Add a test that the code fails, or drop one that the judge rejects; return its name."""
        state = self._state
        if item.test:
            name = state.code_tests.name_of(item.test) or ""
            state.drop_test(item.test, ruling.because, disputed=True)
            state.judged_tests.add(name)
        elif example := item.build_example(ruling):
            about = describe_test(state.agreed_contract, ruling.because)
            state.suite, name = state.code_tests.add_peer_test(example, about)
            state.update_expectation([f"{state.code_tests.file_name}::{name}"])
            self._run.notify(
                f"the text demands another answer, a test from now on: {item.found.call}"
            )
        else:
            return ""
        state.green_run = None
        return name

    def _add_choice(self, item: OpenDifference, because: str) -> str:
        """Return the id of the open choice on a difference.

        Differences of one cluster, or with the same reason of the judge, share a choice.
        """
        points = [point for point in (item.found.cluster, (because,)) if any(point)]
        if known_id := next((self._asked[i] for i in points if i in self._asked), ""):
            return known_id
        self._state.contract, found = item.ask(self._state.agreed_contract)
        self._asked |= dict.fromkeys(points, found)
        return found

    def _report(self, comparison: Comparison, present: Sequence[OpenDifference]) -> None:
        """Set the evidence: all differences judged so far, then those that are not judged.

        A difference that counts against the code is left out once repaired code no longer has it.
        """
        state, shown = self._state, {item.key for item in present}
        self._judged = {
            key: item
            for key, item in self._judged.items()
            if key in shown or not (item.counts_against and item.ruling)
        }
        for item in present:
            known = self._judged.get(item.key)
            dropped = {get_function_name(i.name) for i in state.code_tests.dropped}
            if known and get_function_name(known.test) in dropped:
                # The judge of the test contradicts that of the difference.
                self._judged[item.key] = known.model_copy(update={"test": item.test})
        unjudged = (item.to_record() for item in present if item.key not in self._judged)
        peer = Peer(
            inputs=comparison.inputs,
            allowed=comparison.allowed,
            agreed=comparison.agreed,
            differences=(*self._judged.values(), *unjudged),
            slower=comparison.slower,
            problem=comparison.problem,
            is_exhausted=comparison.is_exhausted,
        )
        state.evidence = state.evidence.model_copy(update={"peer": peer})
        self._run.emit(PeerCompared(peer))
