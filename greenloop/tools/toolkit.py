"""The tools' work, as methods: the loop calls these, `as_tools` wraps them for other agents."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from greenloop.dependencies import PackageResolver
from greenloop.llm.client import LLM
from greenloop.llm.parsing.code import parse_code, parse_repair
from greenloop.llm.parsing.contract import parse_contract
from greenloop.llm.parsing.review import parse_judgement, parse_review
from greenloop.llm.parsing.tests import parse_hardening, parse_tests
from greenloop.prompts import PromptTemplates
from greenloop.prompts.failure_context import ShownFailure
from greenloop.records import (
    Contract,
    Dispute,
    Expectation,
    Finding,
    GeneratedCode,
    GeneratedTests,
    Judgement,
    Repair,
    Review,
    Survivor,
    TestRun,
)
from greenloop.sandbox import Sandbox
from greenloop.sandbox.asyncio_bridge import run_in_sandbox_thread
from greenloop.specification.examples import analyze_specification
from greenloop.testsuite import TestFile

_MAX_GIVEN_TESTS_CHARS = 12000


@dataclass(frozen=True)
class RepairRequest:
    """What a repair is told. `history` has one line an attempt, `rulings` one a kept test."""

    code: str
    summary: str = ""
    failures: Sequence[ShownFailure] = ()
    omitted: int = 0
    findings: Sequence[Finding] = ()
    history: Sequence[str] = ()
    rulings: Sequence[str] = ()


@dataclass(frozen=True)
class Toolkit:
    """Model and sandbox are injected; `packages` may be used besides the standard library."""

    model: LLM
    sandbox: Sandbox
    packages: PackageResolver = field(default_factory=PackageResolver)
    prompts: PromptTemplates = field(default_factory=PromptTemplates)

    async def parse_specification(
        self, specification: str, module: str | None = None, given_tests: str = ""
    ) -> Contract:
        """The contract; `given_tests`, the person's own, are part of what it must keep.

        Raises:
            SpecificationError: nothing can be tested.
        """
        given = analyze_specification(specification)
        prompt = self.prompts.render(
            "parse_specification",
            specification=specification,
            module=module or "",
            signatures=given.signatures,
            examples="\n".join(item.doctest for item in given.examples),
            given_tests=given_tests[:_MAX_GIVEN_TESTS_CHARS],
            available_packages=self.packages.allowlist.descriptions,
        )
        read = partial(
            parse_contract,
            specification=given,
            module=module,
            allowed=self.packages.allowlist,
        )
        return await self.model.request(prompt, read)

    async def generate_code(
        self, contract: Contract, failed_approaches: Sequence[str] = ()
    ) -> GeneratedCode:
        """A module for the contract; with `failed_approaches`, another way than those."""
        prompt = self.prompts.render(
            "generate_code",
            contract=contract,
            python_version=python_version(),
            failed_approaches=failed_approaches,
        )
        return await self.model.request(prompt, partial(parse_code, contract=contract))

    async def generate_tests(
        self, contract: Contract, complaints: Sequence[str] = (), previous: str = ""
    ) -> GeneratedTests:
        """Tests for the contract, which never see the code."""
        prompt = self.prompts.render(
            "generate_tests",
            contract=contract,
            complaints=complaints,
            previous=previous,
            keep_sealed=bool(complaints),
        )
        return await self.model.request(prompt, partial(parse_tests, contract=contract))

    async def harden_tests(
        self, contract: Contract, suite: str, survivors: Sequence[Survivor], omitted: int = 0
    ) -> str:
        """Tests to add to a suite that lets these mutants live; '' where none is called for."""
        prompt = self.prompts.render(
            "generate_tests",
            "harden_tests",
            contract=contract,
            suite=suite,
            survivors=survivors,
            omitted=omitted,
        )
        return await self.model.request(
            prompt, partial(parse_hardening, contract=contract, suite=suite)
        )

    async def review_code(self, contract: Contract, code: str) -> Review:
        """What a reader of contract and code finds wrong."""
        numbered = "\n".join(f"{n:4} {line}" for n, line in enumerate(code.split("\n"), 1))
        prompt = self.prompts.render("review_code", contract=contract, numbered_code=numbered)
        return await self.model.request(prompt, parse_review)

    async def repair_code(self, contract: Contract, request: RepairRequest) -> Repair:
        """A repaired module, or disputes, or both."""
        prompt = self.prompts.render(
            "repair_code",
            contract=contract,
            python_version=python_version(),
            code=request.code,
            summary=request.summary,
            failures=request.failures,
            omitted=request.omitted,
            findings=request.findings,
            history=request.history,
            rulings=request.rulings,
        )
        read = partial(parse_repair, contract=contract, current=request.code)
        return await self.model.request(prompt, read)

    async def judge_test(self, contract: Contract, test_source: str, dispute: Dispute) -> Judgement:
        """Who is wrong, from the contract alone: the code is not shown."""
        prompt = self.prompts.render(
            "judge_test", contract=contract, test_source=test_source, claim=dispute.why
        )
        return await self.model.request(prompt, parse_judgement)

    async def with_imported_packages(self, *sources: str) -> Toolkit:
        """This toolkit, its sandbox with the allowed packages that sources import.

        Raises:
            PackagesError: one of them cannot be had.
        """
        names = self.packages.find_imported(sources)
        installed = await self.packages.install(names)
        return replace(self, sandbox=self.sandbox.with_packages(installed))

    async def run_tests(
        self,
        code: str,
        tests: str | Sequence[TestFile],
        module: str | None = None,
        expected: Expectation | None = None,
        *,
        brief: bool = False,
    ) -> TestRun:
        """One test run in the sandbox; `brief` without pytest's own text of each failure."""
        run = partial(self.sandbox.run_tests, module=module, expected=expected, brief=brief)
        work = partial(run, code, tests)
        return await run_in_sandbox_thread(self.sandbox, work)


def python_version() -> str:
    """Of this Python, as prompts name it: `3.12`."""
    return ".".join(platform.python_version_tuple()[:2])
