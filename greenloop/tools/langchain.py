"""Toolkit methods as LangChain tools, with typed arguments and docstrings for a model."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool
from pydantic import ValidationError

from greenloop.dependencies import PackageResolver
from greenloop.keywords import suggest_keyword
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import LLM, LLMClient, RetryPolicy
from greenloop.prompts.failure_context import parse_failure_text
from greenloop.prompts.rendering import PromptTemplates
from greenloop.records import Contract, Finding, Review, TestRun
from greenloop.records.generation import (
    DifferenceRuling,
    Dispute,
    GeneratedCode,
    GeneratedPeer,
    GeneratedTests,
    Judgement,
    Repair,
)
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.specification.quotes import settle_contract
from greenloop.specification.tracing import trace_contract
from greenloop.tools.building import build_tool
from greenloop.tools.peer_toolkit import PeerToolkit, ShownDifference
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
    "write_peer",
    "judge_difference",
)


class _AgentTools:
    """Toolkit methods for other agents: a specification may be plain text.

    The docstrings are the tools' descriptions.
    """

    def __init__(self, kit: Toolkit) -> None:
        self._kit, self._peers = kit, PeerToolkit(kit.model, prompts=kit.prompts)

    async def parse_specification(self, specification: str, module: str | None = None) -> Contract:
        """Turn a specification in plain language into a contract: a typed interface and numbered,
        testable requirements. Hand the result to the other tools as `specification`.

        Args:
            specification: what is to be built, in plain language; signatures and doctests are kept.
            module: name of the Python module, if it is fixed.
        """
        contract = await self._kit.parse_specification(specification, module)
        return settle_contract(trace_contract(contract))

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

    async def write_peer(self, specification: Contract | str) -> GeneratedPeer:
        """Write a second implementation from the text alone, with a generator of inputs and a
        precondition. It sees neither requirements nor code nor tests, so that it can differ.

        Args:
            specification: a contract from parse_specification, or plain text.
        """
        return await self._peers.write_peer(await self._contract(specification))

    async def judge_difference(
        self, specification: str, call: str, first: str, second: str
    ) -> DifferenceRuling:
        """Judge from the text alone which of two programs answers an input rightly: the first, the
        second, neither, or that the text does not say.

        Args:
            specification: what was asked for, in plain language.
            call: the input, as Python source.
            first: what one program answers.
            second: what the other one answers.
        """
        shown = ShownDifference(1, call, first, second)
        return (await self._peers.judge_difference(specification, [shown]))[0]

    async def _contract(self, specification: Contract | str) -> Contract:
        if isinstance(specification, Contract):
            return specification
        with suppress(ValidationError):  # an agent may pass the contract as JSON text
            return Contract.model_validate_json(specification)
        return await self._kit.parse_specification(specification)


@suggest_keyword
def coding_tools(
    model: "BaseChatModel | None" = None,
    sandbox: Sandbox | None = None,
    settings: Settings | None = None,
) -> list[BaseTool]:
    """Return the nine tools, which share one model and one sandbox.

    Results are records; an agent's model reads them as text. A tool that fails (no API key, no
    sandbox, unusable answers) raises ToolException.

    Raises:
        NoModelError, SandboxError: no `model` (`sandbox`) is given, and the settings have none.
    """
    settings = settings or Settings.load()
    client = create_client(settings, model)
    methods = _AgentTools(create_toolkit(client, sandbox or open_sandbox(settings), settings))
    return [build_tool(getattr(methods, name)) for name in TOOL_NAMES]


def build_default_tool(name: str) -> BaseTool:
    """Return one tool by its name; each call opens the model and sandbox of the settings."""
    method = getattr(_AgentTools, name)

    async def call_with_settings(*args: Any, **arguments: Any) -> Any:
        settings = Settings.load()
        model = LLMClient([]) if name == "run_tests" else create_client(settings)
        with open_sandbox(settings) as box:
            kit = create_toolkit(model, box, settings)
            return await method(_AgentTools(kit), *args, **arguments)

    return build_tool(method.__get__(object.__new__(_AgentTools)), call_with_settings)


def create_toolkit(model: LLM, sandbox: Sandbox, settings: Settings) -> Toolkit:
    """Return a toolkit with the packages and prompts of the settings. Raises SettingsError."""
    packages, prompts = PackageResolver(settings.allow_list), PromptTemplates.open(settings.prompts)
    return Toolkit(model, sandbox, packages, prompts=prompts)


def create_client(settings: Settings, model: "BaseChatModel | None" = None) -> LLMClient:
    """Return a client of a model, by default that of the settings. Raises NoModelError."""
    from greenloop.llm.factory import open_sources

    sources = [ChatSource(type(model).__name__, model)] if model else open_sources(settings)
    retry = RetryPolicy(settings.model_attempts, settings.model_backoff_s)
    return LLMClient(sources, retry=retry, secrets=settings.secrets)
