"""Comparison of a candidate with its peer, saved in the run directory before the judge is asked."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter

from greenloop.events.progress import progress_span
from greenloop.grading.peer.comparison import (
    Comparison,
    PeerProgram,
    check_peer,
    compare_programs,
)
from greenloop.records.evidence.peer import Ruling
from greenloop.records.generation import DifferenceRuling
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import get_function_name
from greenloop.tools.peer_toolkit import PeerToolkit
from greenloop.workflow.peer.rulings import OpenDifference, arrange, interpret, is_wording
from greenloop.workflow.state import Run
from greenloop.workflow.storage.request import digest
from greenloop.workflow.storage.run_dir import write_atomically


@dataclass(frozen=True)
class SavedComparison:
    """A comparison with its peer.

    `failing` are tests that the peer fails, with messages; without those that fail on the wording
    of an exception alone, and those whose input is among the differences.
    """

    peer: PeerProgram
    comparison: Comparison
    failing: Mapping[str, str] = field(default_factory=dict)


async def find_failing_examples(run: Run, peer: PeerProgram) -> dict[str, str]:
    """Return the examples of the text that the peer fails, with messages. Raises SandboxError."""
    suite = run.state.tests
    examples = [TestFile(suite.file_name, suite.examples)]
    with progress_span(run.emit, "second implementation, examples"):
        return await run.call_in_sandbox(
            lambda box: check_peer(box, module=suite.module, peer=peer, tests=examples)
        )


async def compare_with_peer(
    run: Run, peer: PeerProgram, calls: Sequence[str] = ()
) -> SavedComparison:
    """Compare the current module with its peer, on `calls` too. Raises as `compare_and_save` does.

    The tests run on the peer too, except the examples, which the peer has passed already.
    """
    suite, contract = run.state.tests, run.state.agreed_contract
    files = replace(suite, examples="").files

    def find_failing(box: Sandbox) -> dict[str, str]:
        return check_peer(box, module=suite.module, peer=peer, tests=files)

    def compare(box: Sandbox, failing: Collection[str]) -> Comparison:
        return compare_programs(
            box,
            module=suite.module,
            code=run.state.candidates.current.code,
            peer=peer,
            interface=contract.interface,
            specification=contract.text_with_answers,
            tests=suite.files,
            examples=[*calls, *(item.call for item in suite.held_out)],
            seed=seed_of(run),
            failing=failing,
        )

    return await compare_and_save(run, peer, find_failing, compare)


async def compare_and_save(
    run: Run,
    peer: PeerProgram,
    find_failing: Callable[[Sandbox], Mapping[str, str]],
    compare: Callable[[Sandbox, Collection[str]], Comparison],
) -> SavedComparison:
    """Make a comparison, or return the saved one of the same code, tests and peer.

    A comparison has a time limit: a second one may find other differences, whose rulings would be
    paid for again. `find_failing` returns the tests that the peer fails, with messages; `compare`
    gets the names of their functions.

    Raises:
        SandboxError: the sandbox cannot run anything.
        OutputError: the result cannot be saved.
    """
    state = run.state
    code, suite = state.candidates.current.code, state.code_tests
    key = digest("\0".join([code, suite.code, peer.code, peer.inputs]))
    path = run.directory / "peer" / f"{key[:16]}.json"
    if known := _load(path):
        return known
    text = state.agreed_contract.text_with_answers
    with progress_span(run.emit, "second implementation"), state.measure_time("grading_s"):
        messages = await run.call_in_sandbox(find_failing)
        names = {
            test: get_function_name(test).rpartition("::")[2]  # without its class
            for test, it in messages.items()
            if not is_wording(it, text)
        }
        comparison = await run.call_in_sandbox(lambda box: compare(box, {*names.values()}))
    known_tests = comparison.differing_tests
    failing = {test: messages[test] for test, name in names.items() if name not in known_tests}
    done = SavedComparison(peer, comparison, failing)
    stored = TypeAdapter(SavedComparison).dump_json(done, indent=1).decode()
    write_atomically(path, stored + "\n")
    return done


def _load(path: Path) -> SavedComparison | None:
    try:
        return TypeAdapter(SavedComparison).validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


async def request_rulings(
    run: Run, text: str, differences: Sequence[OpenDifference]
) -> Sequence[tuple[DifferenceRuling, Ruling]]:
    """Return the judge's ruling on each difference by a text, and what it means for the code.

    Raises GreenloopError: the call failed.
    """
    arranged = arrange(differences, seed_of(run))
    tools = PeerToolkit(run.client, prompts=run.kit.prompts)
    taken = run.state.agreed_contract.taken_choices
    rulings = await tools.judge_difference(text, [item for item, _ in arranged], taken)
    rows = zip(differences, rulings, arranged, strict=True)
    return [
        (ruling, interpret(ruling, code_is_first, item))
        for item, ruling, (_, code_is_first) in rows
    ]


def seed_of(run: Run) -> str:
    """Return the random seed of a comparison, derived from the text and the code."""
    text = run.state.agreed_contract.specification
    return digest(digest(text) + digest(run.state.candidates.current.code))
