"""Hardening of a change: tests added for mutants of its lines that no test detects."""

from collections.abc import Sequence

from greenloop.events import HardeningDone
from greenloop.project.code_map.interface import select_module
from greenloop.records import Survivor
from greenloop.records.generation import AddedTests
from greenloop.tools.change_toolkit import ChangeToolkit
from greenloop.tools.shown_project import ShownFile
from greenloop.workflow.change.write_tests import TestWriter
from greenloop.workflow.make.harden_tests import Hardener
from greenloop.workflow.state import Run


class ChangeHardener(Hardener):
    """Hardening of a change in one round at most; tests from `--tests` are not extended."""

    def __init__(self, run: Run, writer: TestWriter, tools: ChangeToolkit) -> None:
        super().__init__(run)
        self._rounds_left = min(self._rounds_left, 1)
        self._writer, self._tools = writer, tools

    def _can_harden(self) -> bool:
        """Return whether tests may be added, and the module that they would import is known."""
        module = select_module(self._run.state.change_suite.interface, "")
        return bool(module) and not self._run.state.change_suite.is_given and super()._can_harden()

    async def _request(
        self, shown: Sequence[Survivor], missed: Sequence[str], omitted: int
    ) -> AddedTests:
        suite = self._run.state.change_suite
        update = {"module": select_module(suite.interface, "")}
        contract = self._run.state.agreed_contract.model_copy(update=update)
        file = ShownFile(*suite.last_file)
        return await self._tools.harden_tests(contract, file, suite.code, shown, missed, omitted)

    async def _add_tests(self, text: str, shown: int) -> bool:
        suite = await self._writer.extend(self._run.state.change_suite, text)
        names = tuple(sorted(suite.names - self._run.state.change_suite.names))
        self._run.emit(HardeningDone(shown, names))
        if names:
            self._run.state.suite, self._run.state.green_run = suite, None
        return bool(names)
