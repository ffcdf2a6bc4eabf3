"""The toolkit as LangChain tools, with typed arguments and docstrings that a model can act on."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import ValidationError

from greenloop.dependencies import PackageResolver
from greenloop.errors import GreenloopError
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import LLMClient, RetryPolicy
from greenloop.prompts import PromptTemplates
from greenloop.prompts.failure_context import parse_failure_text
from greenloop.records import (
    Contract,
    Dispute,
    Finding,
    GeneratedCode,
    GeneratedTests,
    Judgement,
    Repair,
    Review,
    TestRun,
)
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.tools.toolkit import RepairRequest, Toolkit

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

TOOL_NAMES = (
    "parse_specification",
    "generate_code",
    "generate_tests",
    "review_code",
    "run_tests",
    "repair_code",
    "judge_test",
)


class _AgentTools:
    """The toolkit's methods as another agent calls them: a specification may be plain text."""

    def __init__(self, kit: Toolkit) -> None:
        self._kit = kit

    async def parse_specification(self, specification: str, module: str | None = None) -> Contract:
        """Turn a specification in plain language into a contract: a typed interface and numbered,
        testable requirements. Hand the result to the other tools as `specification`.

        Args:
            specification: what is to be built, in plain language; signatures and doctests are kept.
            module: name of the Python module, if it is fixed.
        """
        return await self._kit.parse_specification(specification, module)

    async def generate_code(self, specification: Contract | str) -> GeneratedCode:
        """Write one whole Python module. Does not run or test it.

        Args:
            specification: a contract from parse_specification, or plain text.
        """
        return await self._kit.generate_code(await self._contract(specification))

    async def generate_tests(self, specification: Contract | str) -> GeneratedTests:
        """Write a pytest file from the specification alone. The tests must not be made to fit
        existing code, so none is taken.

        Args:
            specification: a contract from parse_specification, or plain text.
        """
        return await self._kit.generate_tests(await self._contract(specification))

    async def review_code(self, specification: Contract | str, code: str) -> Review:
        """Review a module against its specification without running it: findings, or LGTM.

        Args:
            specification: a contract from parse_specification, or plain text.
            code: the whole module's source.
        """
        return await self._kit.review_code(await self._contract(specification), code)

    async def run_tests(self, code: str, tests: str, module: str | None = None) -> TestRun:
        """Run pytest on a module in a temporary directory, in a sandboxed process of its own.
        Packages that both may use are installed when they are imported.

        Args:
            code: the whole module's source.
            tests: the pytest file's source.
            module: the name under which the tests import the module; found from them if left out.
        """
        kit = await self._kit.with_imported_packages(code, tests)
        return await kit.run_tests(code, tests, module)

    async def repair_code(
        self,
        specification: Contract | str,
        code: str,
        failures: str = "",
        findings: list[Finding] | None = None,
    ) -> Repair:
        """Repair a module so that it satisfies its specification. Answers with the whole module,
        with disputes of tests that contradict the specification, or with both.

        Args:
            specification: a contract from parse_specification, or plain text.
            code: the whole module's source as it is now.
            failures: what run_tests answered.
            findings: what review_code found.
        """
        request = RepairRequest(
            code=code,
            summary="The tests failed." if failures else "",
            failures=parse_failure_text(failures) if failures else (),
            findings=findings or (),
        )
        return await self._kit.repair_code(await self._contract(specification), request)

    async def judge_test(
        self, specification: Contract | str, test_source: str, claim: str
    ) -> Judgement:
        """Judge from the specification alone whether a disputed test is wrong, or the code is.

        Args:
            specification: a contract from parse_specification, or plain text.
            test_source: the source of the one test in dispute.
            claim: why it is held to be wrong.
        """
        contract = await self._contract(specification)
        return await self._kit.judge_test(contract, test_source, Dispute(test="", why=claim))

    async def _contract(self, specification: Contract | str) -> Contract:
        if isinstance(specification, Contract):
            return specification
        with suppress(ValidationError):  # an agent may hand on the contract as the text it read
            return Contract.model_validate_json(specification)
        return await self._kit.parse_specification(specification)


def coding_tools(
    model: BaseChatModel | None = None,
    sandbox: Sandbox | None = None,
    settings: Settings | None = None,
) -> list[BaseTool]:
    """The seven tools, on one model and one sandbox.

    Results are records; in an agent the model reads them as text. What stops a tool (no key, no
    sandbox, unusable answers) is a ToolException.

    Raises:
        NoModelError, SandboxError: no `model` (`sandbox`) is given and the settings yield none.
    """
    settings = settings or Settings.load()
    packages = PackageResolver(settings.allow_list)
    box = sandbox or open_sandbox(settings)
    prompts = PromptTemplates.open(settings.prompts)
    return build_tools(Toolkit(_create_client(model, settings), box, packages, prompts))


def build_tools(kit: Toolkit) -> list[BaseTool]:
    """The tools of one toolkit."""
    methods = _AgentTools(kit)
    return [_build_tool(getattr(methods, name)) for name in TOOL_NAMES]


def build_default_tool(name: str) -> BaseTool:
    """One tool by its name; its model and sandbox are looked up when it is first called."""
    method = getattr(_AgentTools, name)

    async def late(*args: Any, **arguments: Any) -> Any:
        settings = Settings.load()
        model = _NoModel() if name == "run_tests" else _create_client(None, settings)
        packages = PackageResolver(settings.allow_list)
        prompts = PromptTemplates.open(settings.prompts)
        kit = Toolkit(model, open_sandbox(settings), packages, prompts)
        return await method(_AgentTools(kit), *args, **arguments)

    return _build_tool(method.__get__(object.__new__(_AgentTools)), late)


class _NoModel:
    """For run_tests, which needs none."""

    async def request(self, prompt: Any, parse: Any) -> Any:
        raise AssertionError("run_tests asks no model")


def _create_client(model: BaseChatModel | None, settings: Settings) -> LLMClient:
    from greenloop.llm.factory import open_sources

    sources = [ChatSource(type(model).__name__, model)] if model else open_sources(settings)
    return LLMClient(sources, retry=RetryPolicy(settings.model_attempts, settings.model_backoff_s))


def _build_tool(
    method: Callable[..., Awaitable[Any]], work: Callable[..., Awaitable[Any]] | None = None
) -> BaseTool:
    call = work or method

    async def awaited(*only: Any, **arguments: Any) -> Any:
        try:
            return await call(*only, **arguments)
        except GreenloopError as error:
            raise ToolException(str(error)) from error

    def blocking(*only: Any, **arguments: Any) -> Any:
        return run_in_any_thread(awaited(*only, **arguments))

    return StructuredTool.from_function(
        func=blocking,
        coroutine=awaited,
        name=method.__name__,
        description=inspect.getdoc(method),
        args_schema=_create_schema(method),
    )


def _create_schema(method: Callable[..., Any]) -> Any:
    from langchain_core.tools import create_schema_from_function

    return create_schema_from_function(method.__name__, method, parse_docstring=True)


def run_in_any_thread(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Runs a coroutine to its end, also where this thread has an event loop running (Jupyter)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: list[Any] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            outcome.append(asyncio.run(coroutine))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=body, name="greenloop-tool")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]
