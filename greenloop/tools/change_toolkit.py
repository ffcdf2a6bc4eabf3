"""Toolkit for changes of a project: location, contract, tests and code of a change."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from greenloop.llm.parsing.changes.plans import (
    parse_change,
    parse_change_peer,
    parse_location,
    parse_plan,
    parse_test_files,
)
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.review import ReviewReader
from greenloop.llm.parsing.tests import parse_hardening
from greenloop.llm.response import LLMResponse
from greenloop.project.code_map.interface import find_early_keep, list_names, split_interface
from greenloop.records import ChangePlan, Contract, Location, Review, Survivor
from greenloop.records.generation import (
    AddedTests,
    GeneratedCode,
    GeneratedPeer,
    GeneratedTestFiles,
    Repair,
)
from greenloop.reporting.evidence.survivors import describe_fault
from greenloop.specification.contract_review import find_doubtful_background
from greenloop.testsuite.bare_interface import reduce_interface
from greenloop.tools.shown_project import ShownFile, ShownProject, WishedChange, read_tests
from greenloop.tools.toolkit import RepairRequest, Toolkit


@dataclass(frozen=True)
class ChangeToolkit:
    """Model calls for one wish, on the model of `kit`. All methods raise GreenloopError."""

    kit: Toolkit
    asked: WishedChange

    async def locate(
        self,
        code_map: str,
        paths: Collection[str],
        files: Sequence[ShownFile] = (),
    ) -> Location:
        """Return the files that the change concerns; without `files` the model may ask for some."""
        return await self.kit.call(
            "locate_change",
            partial(parse_location, paths=paths, may_need=not files),
            wish=self.asked.wish,
            map=code_map,
            files=files,
            may_need=not files,
        )

    async def plan(
        self, shown: ShownProject, tests: Collection[str], texts: Mapping[str, str]
    ) -> ChangePlan:
        """Return the contract of the change; `tests` are the node ids that it may name.

        Kept behaviour that uses names which the files `texts` do not have is sent back once.
        """
        asked, allowed = self.asked, self.kit.packages.allowlist

        def parse(response: LLMResponse) -> ChangePlan:
            plan = parse_plan(
                response, wish=asked.wish, allowed=allowed, tests=tests, fence=asked.fence
            )
            early = {} if response.is_last else find_early_keep(texts, plan.contract)
            for label, name in early.items():
                raise InvalidResponse(
                    f"{label} is to hold today and uses {name}, which does not exist yet: say it "
                    "without what the change adds, or make it a requirement."
                )
            return plan

        return await self.kit.call(
            "plan_change",
            parse,
            wish=asked.wish,
            fence=asked.fence,
            unlocked=asked.unlocked,
            given_tests=asked.given_tests,
            available_packages=allowed.descriptions,
            is_new=not shown.files,
            **vars(shown),
        )

    async def review_background(self, contract: Contract) -> Review:
        """Return a review of the doubtful background; the prompt shows no code."""
        passages = find_doubtful_background(contract)
        reader = ReviewReader(len(passages))
        request = self.kit.call(
            "review_code",
            reader,
            "review_background",
            wish=self.asked.wish,
            contract=contract,
            doubtful_background=passages,
        )
        return await reader.complete(request)

    async def write_tests(
        self,
        plan: ChangePlan,
        style: Sequence[ShownFile],
        signatures: str,
        texts: Mapping[str, str],
        complaints: Sequence[str] = (),
        previous: Sequence[ShownFile] = (),
        *,
        keep_held_out: bool = False,
    ) -> GeneratedTestFiles:
        """Return test files with new tests; the prompt does not show code that changes.

        `texts` are the project's test files, `style` some of them. With `complaints` about the
        `previous` tests, return them corrected; `keep_held_out` says that their held-out examples
        need not be repeated.
        """
        return await self.kit.call(
            "write_change_tests",
            partial(parse_test_files, texts=texts, replaceable=self.asked.unlocked),
            wish=self.asked.wish,
            contract=plan.contract,
            untested=[item.id for item in plan.contract.keep if not item.tests],
            unlocked=self.asked.unlocked,
            replaced=[*read_tests(texts, {i.partition("[")[0] for i in self.asked.unlocked})],
            signatures=signatures,
            test_files=sorted(texts),
            files=style,
            complaints=complaints,
            previous=previous,
            keep_held_out=keep_held_out,
        )

    async def harden_tests(
        self,
        contract: Contract,
        file: ShownFile,
        suite: str,
        survivors: Sequence[Survivor],
        missed: Sequence[str],
        omitted: int,
    ) -> AddedTests:
        """Return tests that detect surviving mutants, to be appended to a test file.

        `suite` are the new tests so far, and `contract.module` is what the tests have to import.
        """
        return await self.kit.call(
            "harden_tests",
            partial(parse_hardening, contract=contract, suite=file.text),
            "harden_change_tests",
            contract=contract,
            path=file.path,
            suite=suite,
            survivors=[{"fault": describe_fault(i), "lines": i.changed_lines} for i in survivors],
            missed=missed,
            omitted=omitted,
        )

    async def write(
        self,
        plan: ChangePlan,
        shown: ShownProject,
        texts: Mapping[str, str],
        failed_approaches: Sequence[str] = (),
    ) -> GeneratedCode:
        """Return the change as a diff against `texts`, the project's files."""
        repair = await self.kit.call(
            "write_change",
            partial(self._build_parser(plan), base=texts, current=texts),
            wish=self.asked.wish,
            contract=plan.contract,
            fence=plan.fence,
            files=shown.files,
            context=shown.context,
            failed_approaches=failed_approaches,
        )
        return GeneratedCode(code=repair.code or "", explanation=repair.explanation)

    async def write_peer(
        self, plan: ChangePlan, shown: ShownProject, texts: Mapping[str, str]
    ) -> GeneratedPeer:
        """Return a second change of `texts` as a diff; the prompt shows nothing of the first.

        Of the contract it shows the text, names and parameters, and the open choices.
        """
        contract, text = plan.contract, plan.contract.text_with_answers
        stubs = split_interface(contract.interface)
        bare = (f"# module: {key}\n{reduce_interface(i, text)}" for key, i in stubs.items())
        parse = partial(
            parse_change_peer, base=texts, fence=plan.fence, tests=self.asked.test_files
        )
        return await self.kit.call(
            "write_peer",
            parse,
            "write_change_peer",
            wish=text,
            names=[name for stub in stubs.values() for name in list_names(stub)],
            interface="\n".join(bare),
            # The text has the user's answers; accepted choices stay, to leave the prompt unchanged.
            choices=[item for item in contract.choices if item.answered != "user"],
            fence=plan.fence,
            files=shown.files,
            context=shown.context,
        )

    async def repair(
        self,
        plan: ChangePlan,
        request: RepairRequest,
        files: Sequence[ShownFile],
        base: Mapping[str, str],
        current: Mapping[str, str],
    ) -> Repair:
        """Return a repaired change as a diff against `base`, disputes of new tests, or both.

        `current` are the project's files with the change, of which the prompt shows `files`.
        """
        return await self.kit.call(
            "repair_change",
            partial(self._build_parser(plan), base=base, current=current, may_dispute=True),
            contract=plan.contract,
            fence=plan.fence,
            files=files,
            rulings=request.rulings,
            **request.to_context(),
        )

    def _build_parser(self, plan: ChangePlan) -> partial[Repair]:
        return partial(parse_change, fence=plan.fence, tests=self.asked.test_files)
