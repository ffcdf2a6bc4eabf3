"""Strategy of a check against a text, with a contract and a second implementation."""

from greenloop.autofix import FixResult
from greenloop.errors import (
    BudgetExhaustedError,
    InputError,
    InvalidResponseError,
    ModelFailure,
)
from greenloop.events import ContractReady
from greenloop.grading.unreported_tests import find_unreported_tests
from greenloop.llm.parsing.completeness import public_names
from greenloop.records import Contract, HeldOutExample, TestRun
from greenloop.specification.example_tests import render_example_tests
from greenloop.specification.examples import analyze_specification, filter_usable_examples
from greenloop.specification.plain import build_plain_contract
from greenloop.testsuite import Suite
from greenloop.testsuite.bare_interface import extract_interface
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.check.request import CheckRequest
from greenloop.workflow.grade_code import collect_evidence
from greenloop.workflow.make.strategy import MakeStrategy, ModuleStrategy
from greenloop.workflow.peer.compare_peer import PeerComparer
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.setup.packages import install_contract_packages
from greenloop.workflow.state import Run


class CheckStrategy(MakeStrategy):
    """Check of code and tests as they are: nothing is repaired, no generated test is added."""

    def __init__(self, run: Run, request: CheckRequest) -> None:
        ModuleStrategy.__init__(self, run)
        self._check = request
        self._peer_comparer = PeerComparer(run, repairs=False)
        self.state.repair_phase.limit = 0

    async def prepare(self) -> None:
        """Set the user's tests and, if they pass, tests of the text's examples.

        Raises InputError: the code defines nothing public, or the files have no test.
        """
        state, request = self.state, self._check
        files = tuple(item.as_test_file() for item in request.given)
        state.suite = Suite(request.module or "", user_files=files)
        state.candidates.add(Candidate(request.code, "generate", "the code as it is"))
        result = await run_suite(self.run, request.code, state.suite)
        if result.ending == "finished" and not (result.tests or result.failures):
            raise InputError(f"no tests were collected from {', '.join(i.name for i in files)}")
        if result.passed:  # code that fails its tests needs no model
            await self._read_text(state.suite)

    async def undo_change(self) -> bool:
        return False

    async def search_repair(self) -> bool:
        return False

    async def _read_text(self, suite: Suite) -> None:
        run, text = self.run, self._check.specification
        interface = extract_interface(self._check.code, text)
        if not (names := frozenset(public_names(interface))):
            raise InputError(f"{suite.module} defines no public function or class")
        parsed = await self._agree_on_contract(text, suite.module)
        examples = filter_usable_examples(analyze_specification(text).examples, names)
        self.state.contract = parsed.model_copy(
            update={"interface": interface, "examples": examples}
        )
        run.emit(ContractReady(self.state.contract))
        await install_contract_packages(run)
        self.state.suite = Suite(
            suite.module,
            public=names,
            examples=render_example_tests(suite.module, examples),
            user_files=suite.user_files,
            held_out=await self._hold_out_examples(),
        )

    async def _agree_on_contract(self, text: str, module: str) -> Contract:
        """Return the model's contract; without one, that of the plain road."""
        run = self.run
        try:
            return await run.kit.parse_specification(text, module)
        except InvalidResponseError as error:
            plain = build_plain_contract(analyze_specification(text), module, self._check.code)
            if plain is None:
                raise
            run.state.road = "plain"
            run.notify(f"without a contract: {error}")
            return plain

    async def _hold_out_examples(self) -> tuple[HeldOutExample, ...]:
        """Return held-out examples; the tests that come with them are not used."""
        try:
            written = await self.run.kit.generate_tests(self.state.agreed_contract)
        except (ModelFailure, BudgetExhaustedError) as error:
            self.run.notify(f"no held-out examples: {error}")
            return ()
        return written.held_out

    def apply_autofix(self, code: str) -> FixResult:
        return FixResult(code)

    async def grade(self, result: TestRun) -> bool:
        state = self.state
        if unreported := find_unreported_tests(state.tests.files, result):
            state.forgery_reason = f"{unreported[0]} is in the tests but was never reported"
        await collect_evidence(state, self.run.sandbox, result, self.run.emit)
        return False

    async def extend(self) -> bool:
        return await self._peer_comparer.compare()
