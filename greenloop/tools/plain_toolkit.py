"""Plain toolkit: short prompts with the specification alone, for models that keep no format."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial

from greenloop.errors import InvalidResponseError
from greenloop.llm.parsing.code import parse_code, parse_repair, parse_script
from greenloop.llm.parsing.tests import parse_tests
from greenloop.records import Contract
from greenloop.records.generation import GeneratedCode, GeneratedTests, Repair
from greenloop.specification.plain import list_unwritten_names
from greenloop.tools.toolkit import RepairRequest, Toolkit

_SAMPLING_TEMPERATURE = 0.8
# Six assertions are shorter; a small model would go on with the next numbers.
_ENOUGH_ASSERTIONS = 2_000


@dataclass(frozen=True)
class PlainToolkit(Toolkit):
    """Tools that write and repair with prompts of the plain road. All raise GreenloopError."""

    @classmethod
    def of(cls, kit: Toolkit) -> "PlainToolkit":
        """Return the plain tools with the model, sandbox, prompts and packages of others."""
        return cls(**{item.name: getattr(kit, item.name) for item in fields(Toolkit)})

    async def generate_code(
        self, contract: Contract, failed_approaches: Sequence[str] = ()
    ) -> GeneratedCode:
        """Return a module for the text of a contract: a sample if an approach failed."""
        sample = bool(failed_approaches)
        return await self.write_code(contract.specification, contract, sample=sample)

    async def write_code(
        self, specification: str, contract: Contract | None = None, *, sample: bool = False
    ) -> GeneratedCode:
        """Return a module for a text: at temperature 0, or as a `sample` at a higher one.

        A sample is also requested if the answer at temperature 0 cannot be used.
        """
        parse = partial(parse_code, contract=contract) if contract else parse_script
        prompt = self.prompts.render(
            "generate_code", "generate_code_plain", specification=specification
        )
        if not sample:
            with suppress(InvalidResponseError):
                return await self.model.request(replace(prompt, temperature=0.0), parse)
        return await self.model.request(replace(prompt, temperature=_SAMPLING_TEMPERATURE), parse)

    async def generate_tests(
        self,
        contract: Contract,
        complaints: Sequence[str] = (),
        previous: str = "",
        *,
        keep_held_out: bool = False,
        keep_tests: bool = False,
    ) -> GeneratedTests:
        """Return assertions about the text of a contract; nothing else is shown."""
        prompt = self.prompts.render(
            "generate_tests",
            "generate_tests_plain",
            specification=contract.specification,
            names=list_unwritten_names(contract),
        )
        asked = replace(prompt, temperature=0.0, enough=_ENOUGH_ASSERTIONS)
        return await self.model.request(asked, partial(parse_tests, contract=contract))

    async def repair_code(self, contract: Contract, request: RepairRequest) -> Repair:
        """Return a repaired module; the text, the code and its failures are shown."""
        return await self.call(
            "repair_code",
            partial(parse_repair, contract=contract, current=request.code),
            "repair_code_plain",
            specification=contract.specification,
            code=request.code,
            summary=request.summary,
            failures=request.failures,
        )
