"""Toolkit for scripts and for modules that exist already."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from greenloop.llm.parsing.code import parse_script
from greenloop.llm.parsing.review import parse_judgement
from greenloop.llm.parsing.scripts import RegressionFinder, parse_checks, parse_script_repair
from greenloop.records import OutputCheck
from greenloop.records.generation import Dispute, GeneratedCode, Judgement, Repair
from greenloop.tools.toolkit import RepairRequest, Toolkit


@dataclass(frozen=True)
class ShownInput:
    """An input as a prompt shows it: path, size in bytes, and the first lines of a text."""

    path: str
    size: int
    head: str = ""
    whole: bool = False  # `head` is the whole text


@dataclass(frozen=True)
class ScriptTask:
    """Task, inputs, and checks of a script. `task` is '' for an existing script."""

    name: str
    task: str = ""
    arguments: Sequence[str] = ()
    stdin: str = ""
    inputs: Sequence[ShownInput] = ()
    checks: Sequence[OutputCheck] = ()


@dataclass(frozen=True)
class ScriptToolkit:
    """Tools for scripts and existing modules, on the model of `kit`.

    All methods raise GreenloopError.
    """

    kit: Toolkit

    async def propose_checks(self, script: ScriptTask) -> tuple[OutputCheck, ...]:
        """Return checks of the output; the prompt shows only the task."""
        return await self.kit.call("propose_checks", parse_checks, script=script)

    async def write_script(
        self, script: ScriptTask, failed_approaches: Sequence[str] = ()
    ) -> GeneratedCode:
        """Return a script for a task that avoids the approaches that failed."""
        return await self.kit.call(
            "write_script",
            parse_script,
            script=script,
            failed_approaches=failed_approaches,
            packages=self._packages,
        )

    async def repair_script(
        self,
        script: ScriptTask,
        request: RepairRequest,
        *,
        keep: bool,
        lost: RegressionFinder,
        disputable: Collection[str] = (),
        from_the_original: bool = False,
    ) -> Repair:
        """Return a repaired script, disputes of checks, or both.

        With `keep`, a script for which `lost` finds lost features is rejected.
        """
        parse = partial(
            parse_script_repair, current=request.code, find_regressions=lost, checks=disputable
        )
        return await self.kit.call(
            "repair_script",
            parse,
            script=script,
            keep=keep,
            may_dispute=bool(disputable),
            disputable=list(disputable),
            from_the_original=from_the_original,
            rulings=request.rulings,
            packages=self._packages,
            **request.to_context(),
        )

    async def judge_check(self, script: ScriptTask, dispute: Dispute) -> Judgement:
        """Return whether check or script is wrong; the prompt shows the task, not the script."""
        check = next((str(item) for item in script.checks if item.id == dispute.test), dispute.test)
        return await self.kit.call(
            "judge_check", parse_judgement, script=script, check=check, claim=dispute.why
        )

    async def heal_code(
        self,
        module: str,
        request: RepairRequest,
        *,
        lost: RegressionFinder,
        hint: str = "",
        from_the_original: bool = False,
        change_requests: Sequence[str] = (),
    ) -> Repair:
        """Return an existing module, repaired until the user's tests pass.

        `hint` is the diff of a patch that a search found. `change_requests` are further changes
        that the user asked for.
        """
        return await self.kit.call(
            "repair_code",
            partial(parse_script_repair, current=request.code, find_regressions=lost),
            "heal_code",
            module=module,
            hint=hint,
            from_the_original=from_the_original,
            wishes=list(change_requests),
            packages=self._packages,
            **request.to_context(),
        )

    @property
    def _packages(self) -> str:
        return ", ".join(self.kit.packages.allowlist.descriptions)
