"""Toolkit: model calls that make, review, test, and repair a module.

The workflow calls its methods; `greenloop.tools.langchain` wraps them for other agents.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from greenloop.dependencies import InstalledPackages, PackageResolver
from greenloop.llm.client import LLM
from greenloop.llm.parsing.code import parse_code, parse_repair
from greenloop.llm.parsing.contracts.answer import parse_contract
from greenloop.llm.parsing.review import ReviewReader, parse_judgement
from greenloop.llm.parsing.tests import parse_hardening, parse_tests
from greenloop.llm.response import LLMResponse
from greenloop.prompts.failure_context import ShownFailure
from greenloop.prompts.rendering import PromptTemplates
from greenloop.records import Contract, Finding, Review, Survivor, TestRun
from greenloop.records.generation import (
    AddedTests,
    Dispute,
    GeneratedCode,
    GeneratedTests,
    Judgement,
    Repair,
)
from greenloop.reporting.evidence.survivors import describe_fault
from greenloop.sandbox import Sandbox
from greenloop.specification.contract_review import find_doubtful_background
from greenloop.specification.examples import analyze_specification, check_consistency
from greenloop.testsuite import TestFile
from greenloop.threads import complete_in_thread

_MAX_GIVEN_TESTS_CHARS = 12000
T = TypeVar("T")


@dataclass(frozen=True)
class RepairRequest:
    """Contents of the prompt of a repair."""

    code: str
    summary: str = ""
    failures: Sequence[ShownFailure] = ()
    omitted: int = 0
    findings: Sequence[Finding] = ()
    history: Sequence[str] = ()  # a line for each attempt
    rulings: Sequence[str] = ()  # one for each test that was judged right

    def to_context(self) -> dict[str, object]:
        """Return the template variables that all prompts of repairs have."""
        names = ("code", "summary", "failures", "omitted", "history")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class PromptCaller:
    """Calls of a model with rendered prompts."""

    model: LLM
    prompts: PromptTemplates = field(default_factory=PromptTemplates, kw_only=True)

    async def call(
        self,
        tool: str,
        parse: Callable[[LLMResponse], T],
        template: str | None = None,
        /,
        **values: Any,
    ) -> T:
        """Return the parsed answer to the prompt of a tool. Raises GreenloopError."""
        return await self.model.request(self.prompts.render(tool, template, **values), parse)


@dataclass(frozen=True)
class Toolkit(PromptCaller):
    """Tools of one model and one sandbox.

    `packages` may be used besides the standard library. All methods raise GreenloopError.
    """

    sandbox: Sandbox
    packages: PackageResolver = field(default_factory=PackageResolver)
    installed: InstalledPackages = field(default_factory=InstalledPackages)

    async def parse_specification(
        self,
        specification: str,
        module: str | None = None,
        given_tests: str = "",
        complaints: Sequence[str] = (),
        previous: Contract | None = None,
    ) -> Contract:
        """Return the contract of a specification; the user's `given_tests` restrict it too.

        With `complaints` about a `previous` contract, return a corrected one.

        Raises:
            SpecificationError: the specification states nothing that can be tested, or gives one
                call two results.
        """
        given = analyze_specification(specification)
        check_consistency(given.examples)
        allowed = self.packages.allowlist
        return await self.call(
            "parse_specification",
            partial(
                parse_contract,
                specification=given,
                module=module,
                allowed=allowed,
                previous=previous,
            ),
            specification=specification,
            module=module or "",
            signatures=given.signatures,
            examples="\n".join(item.doctest for item in given.examples),
            given_tests=given_tests[:_MAX_GIVEN_TESTS_CHARS],
            available_packages=allowed.descriptions,
            complaints=complaints,
            previous=previous.format_answer() if previous else "",
        )

    async def generate_code(
        self, contract: Contract, failed_approaches: Sequence[str] = ()
    ) -> GeneratedCode:
        """Return a module for the contract that avoids the approaches that failed."""
        parse = partial(parse_code, contract=contract)
        shown = self._with_versions(contract)
        return await self.call(
            "generate_code", parse, contract=shown, failed_approaches=failed_approaches
        )

    def _with_versions(self, contract: Contract) -> Contract:
        """Return a contract for a prompt, with the versions of its packages if they are known."""
        named = (f"{item} {self.installed.version(item)}" for item in contract.packages)
        return contract.model_copy(update={"packages": tuple(item.strip() for item in named)})

    async def generate_tests(
        self,
        contract: Contract,
        complaints: Sequence[str] = (),
        previous: str = "",
        *,
        keep_held_out: bool = False,
        keep_tests: bool = False,
    ) -> GeneratedTests:
        """Return tests for the contract; the prompt does not show the code.

        With `complaints` about `previous` tests, return them corrected; with `keep_held_out` their
        held-out examples need not be repeated; with `keep_tests` only these are requested.
        """
        return await self.call(
            "generate_tests",
            partial(parse_tests, contract=contract, kept=previous if keep_tests else ""),
            contract=self._with_versions(contract),
            complaints=complaints,
            previous=previous,
            keep_held_out=keep_held_out,
            keep_tests=keep_tests,
        )

    async def harden_tests(
        self,
        contract: Contract,
        suite: str,
        survivors: Sequence[Survivor],
        missed: Sequence[str] = (),
        omitted: int = 0,
    ) -> AddedTests:
        """Return tests that detect surviving mutants; `missed` are the thresholds not reached."""
        return await self.call(
            "harden_tests",
            partial(parse_hardening, contract=contract, suite=suite),
            contract=contract,
            suite=suite,
            survivors=[{"fault": describe_fault(i), "lines": i.changed_lines} for i in survivors],
            missed=missed,
            omitted=omitted,
        )

    async def review_code(
        self, contract: Contract, code: str, diff: str = "", findings: Sequence[Finding] = ()
    ) -> Review:
        """Return the findings of a review of the code against the contract.

        With `diff` only that change is reviewed, and whether former `findings` still hold.
        """
        passages = () if diff else find_doubtful_background(contract)
        reader = ReviewReader(len(passages))
        request = self.call(
            "review_code",
            reader,
            contract=contract,
            doubtful_background=passages,
            numbered_code="" if diff else number_lines(code),
            diff=diff,
            findings=findings,
        )
        return await reader.complete(request)

    async def repair_code(self, contract: Contract, request: RepairRequest) -> Repair:
        """Return a repaired module, disputes of tests, or both."""
        return await self.call(
            "repair_code",
            partial(parse_repair, contract=contract, current=request.code),
            contract=contract,
            findings=request.findings,
            rulings=request.rulings,
            numbered_code=number_lines(request.code),
            **{key: value for key, value in request.to_context().items() if key != "code"},
        )

    async def judge_test(
        self, contract: Contract, test_source: str, dispute: Dispute, *, is_example: bool = False
    ) -> Judgement:
        """Return whether test, code or text is wrong; the prompt does not show the code."""
        return await self.call(
            "judge_test",
            parse_judgement,
            contract=contract,
            test_source=test_source,
            claim=dispute.why,
            is_example=is_example,
        )

    async def with_imported_packages(self, *sources: str) -> "Toolkit":
        """Return the toolkit with the allowed packages that sources import in its sandbox.

        Raises:
            PackagesError: one of them cannot be installed.
        """
        names = self.packages.find_imported(sources)
        installed = await self.packages.install(names)
        return replace(self, sandbox=self.sandbox.with_packages(installed))

    async def run_tests(
        self, code: str, tests: str | Sequence[TestFile], module: str | None = None
    ) -> TestRun:
        """Run tests on a module in the sandbox. Raises SandboxError."""
        work = partial(self.sandbox.run_tests, code, tests, module=module)
        return await complete_in_thread(work, self.sandbox.interrupt_runs)


def number_lines(code: str) -> str:
    """Return the code with line numbers, as prompts show it."""
    return "\n".join(f"{n:4} {line}" for n, line in enumerate(code.split("\n"), 1))
