"""The tools' work for what is no module made of a contract: scripts, and code that exists already."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

from greenloop.llm.client import LLM
from greenloop.llm.parsing.code import parse_script
from greenloop.llm.parsing.review import parse_judgement
from greenloop.llm.parsing.scripts import RegressionFinder, parse_checks, parse_script_repair
from greenloop.prompts import PromptTemplates
from greenloop.records import Dispute, GeneratedCode, Judgement, OutputCheck, Repair
from greenloop.tools.toolkit import RepairRequest, python_version


@dataclass(frozen=True)
class ShownInput:
    """An input as a prompt shows it: path, size in bytes, first lines if it is text.

    `whole`: the lines are all that it has.
    """

    path: str
    size: int
    head: str = ""
    whole: bool = False


@dataclass(frozen=True)
class ScriptTask:
    """What a script is to do, and what it finds. `task` is '' where a script exists already."""

    name: str
    task: str = ""
    arguments: Sequence[str] = ()
    stdin: str = ""
    inputs: Sequence[ShownInput] = ()
    checks: Sequence[OutputCheck] = ()


@dataclass(frozen=True)
class ScriptToolkit:
    """Model injected; `packages` and `network` are what scripts may use, as prompts name them."""

    model: LLM
    packages: str = ""
    network: Sequence[str] = ()
    prompts: PromptTemplates = field(default_factory=PromptTemplates)

    async def propose_checks(self, script: ScriptTask) -> tuple[OutputCheck, ...]:
        """What the output will be checked for, from the task alone."""
        prompt = self.prompts.render("generate_tests", "propose_checks", script=script)
        return await self.model.request(prompt, parse_checks)

    async def write_script(
        self, script: ScriptTask, failed_approaches: Sequence[str] = ()
    ) -> GeneratedCode:
        """A script for a task; with `failed_approaches`, another way than those."""
        prompt = self.prompts.render(
            "write_script",
            script=script,
            failed_approaches=failed_approaches,
            **self._environment_context(),
        )
        return await self.model.request(prompt, parse_script)

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
        """A repaired script, or disputed checks, or both. With `keep`, what it has must stay."""
        prompt = self.prompts.render(
            "repair_script",
            script=script,
            keep=keep,
            may_dispute=bool(disputable),
            disputable=list(disputable),
            from_the_original=from_the_original,
            rulings=request.rulings,
            **_request_context(request),
            **self._environment_context(),
        )
        read = partial(
            parse_script_repair, current=request.code, find_regressions=lost, checks=disputable
        )
        return await self.model.request(prompt, read)

    async def judge_check(self, script: ScriptTask, dispute: Dispute) -> Judgement:
        """Who is wrong, from the task alone: the script is not shown."""
        check = next((str(item) for item in script.checks if item.id == dispute.test), dispute.test)
        prompt = self.prompts.render(
            "judge_test", "judge_check", script=script, check=check, claim=dispute.why
        )
        return await self.model.request(prompt, parse_judgement)

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
        """An existing module, repaired until its owner's tests pass; `hint` is a patch to look at,
        `wishes` are what the owner asks for besides."""
        prompt = self.prompts.render(
            "repair_code",
            "heal_code",
            module=module,
            hint=hint,
            from_the_original=from_the_original,
            wishes=list(change_requests),
            packages=self.packages,
            python_version=python_version(),
            **_request_context(request),
        )
        return await self.model.request(
            prompt, partial(parse_script_repair, current=request.code, find_regressions=lost)
        )

    def _environment_context(self) -> dict[str, object]:
        return {
            "python_version": python_version(),
            "packages": self.packages,
            "network": self.network,
        }


def _request_context(request: RepairRequest) -> dict[str, object]:
    return {
        "code": request.code,
        "summary": request.summary,
        "failures": request.failures,
        "omitted": request.omitted,
        "history": request.history,
    }
