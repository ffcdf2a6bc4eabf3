"""Detection by a second implementation: published programs that pass their tests, wrong and right ones.

    git clone https://github.com/RinCloud/TrickCatcher
    git clone https://github.com/evalplus/humanevalplus_release
    python bench/trickcatcher.py --data TrickCatcher [--every N] [--first N] [--programs N]
        [--contracts humanevalplus_release/HumanEvalPlus.jsonl.gz] [--show]

The programs of its data set EvalPlus pass the tests of HumanEval; those of HumanEval+ tell wrong from
right. Peers are the programs that a model wrote from the text alone; one that fails the examples in the
text is replaced by the next that passes.

A peer's writer gives a precondition as `allowed`, which the data lacks. With `--contracts` it is the
contract that HumanEval+ publishes for the task, and the judge knows what its reference solution answers.
Without it, inputs are taken on which other right programs agree and raise nothing (`--no-precondition`:
all), and the judge knows what several right programs answer.

Printed are the share of wrong programs that are noticed, and of right ones that lose `verified`. A
program is right by the tests of HumanEval+; one that fails an example of its own text, or answers an
allowed input otherwise than the reference solution, is counted on a row of its own.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trickcatcher_tasks import MODULE, PRECONDITION_REFERENCES, Task, read_tasks

from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import Answer, Program
from greenloop.grading.peer.answers import compare
from greenloop.grading.peer.comparison import PeerProgram, check_peer, compare_programs
from greenloop.grading.peer.names import Names
from greenloop.grading.peer.records import FoundDifference
from greenloop.records.evidence.peer import MIN_ALLOWED_INPUTS
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.guest.observation.inputs.calls import AFTER, ANSWER

REFERENCES = 3
Found = tuple[str, list[str]]  # what is found of a program, and the details
UNNOTICED = ("nothing", "too few", "no peer", "wrong text")
# Findings of programs that pass the tests of HumanEval+, and are wrong all the same.
WRONG_AFTER_ALL = ("noticed", "example")
MEANINGS = {
    "wrong": {
        "noticed": "noticed: a difference on which they are wrong",
        "example": "noticed: they fail an example of the text",
        "open": "noticed: a difference on which the judge knows no answer",
        "too few": "not `verified`: too few inputs",
        "no peer": "not `verified`: no peer passes the examples",
        "wrong text": "not `verified`: an example of the text is wrong by the reference solution",
        "nothing": "nothing noticed",
        "time": "wrong in time alone: they answer each published input as the reference solution",
        "no fault": "not wrong: they answer each published input as the reference solution",
    },
    "right": {
        "noticed": "contradict the reference solution: an answer, a changed argument, or time",
        "example": "wrong by an example of their own text",
        "open": "not `verified`: a difference on which the judge knows no answer",
        "too few": "not `verified`: too few inputs",
        "no peer": "not `verified`: no peer passes the examples",
        "wrong text": "not `verified`: an example of the text is wrong by the reference solution",
        "nothing": "`verified` as far as the second implementation goes",
    },
}


# An input is not allowed where two right programs answer it differently, or one raises.
PRECONDITION = """
import copy

spaces = [{{}} for _ in {sources!r}]
for source, space in zip({sources!r}, spaces):
    exec(source, space)

def allowed(*arguments):
    try:
        answers = [space[{function!r}](*copy.deepcopy(arguments)) for space in spaces]
    except Exception:
        return False
    return all(answer == answers[0] for answer in answers)
"""


def restrict(task: Task, code: str, peer: PeerProgram) -> PeerProgram:
    """Return the peer with a precondition: the contract, or other right programs than `code`."""
    if task.contract:
        return PeerProgram(peer.code, f"{task.contract}\n{peer.inputs}")
    sources = [source for source in task.right if source != code][:PRECONDITION_REFERENCES]
    allowed = PRECONDITION.format(sources=sources, function=task.function)
    return PeerProgram(peer.code, peer.inputs + allowed)


def fit_inputs(box: Sandbox, task: Task) -> list[tuple[object, ...]]:
    """Return the data's inputs, each in the first form that a right program answers."""
    forms = [list(iterate_forms(item)) for item in task.inputs[:100]]
    calls = [build_call(task, form) for item in forms for form in item]
    program = Program(box, MODULE, task.right[0], (task.function,))
    answers = iter([not made.ending and has_answered(made) for made in program.run(calls, 10.0)])
    fitting = [[form for form in item if next(answers)] for item in forms]
    return [item[0] for item in fitting if item]


def iterate_forms(item: list[object]) -> Iterator[tuple[object, ...]]:
    """Yield an input as given, as one argument, without its outer list, and each part as a call."""
    yield tuple(item)
    yield (item,)
    yield from (tuple(part) for part in item if isinstance(part, list))
    yield from ((part,) for part in item)


def build_call(task: Task, arguments: tuple[object, ...]) -> Input:
    text = f"{task.function}({', '.join(map(repr, arguments))})"
    return Input(ast.parse(text, mode="eval").body, task.function)


def has_answered(made: Answer) -> bool:
    """Return whether a program returned, and raised nothing."""
    return "value" in made.load(ANSWER)


def choose_peer(box: Sandbox, task: Task) -> PeerProgram | None:
    """Return the first peer that passes the examples; None if all fail some.

    It stands for greenloop's second call, which shows the examples that the first peer fails.
    """
    source = f"def inputs(rng):\n    yield from {fit_inputs(box, task)!r}\n"
    for code in task.peers:
        peer = PeerProgram(code, source)
        if not task.examples or not check_peer(box, module=MODULE, peer=peer, tests=[task.tests]):
            return peer
    return None


def find_fault(box: Sandbox, task: Task, code: str) -> str:
    """Return how a wrong program differs from the reference solution on the published inputs.

    "": in its answers; "time": in time alone; "no fault": not at all.
    """
    calls = [Input(ast.parse(i, mode="eval").body, task.function) for i in task.published]
    both = (code, task.reference)
    mine, right = (
        Program(box, MODULE, source, (task.function,)).run(calls, 30.0, 0.5) for source in both
    )
    pairs = list(zip(mine, right, strict=True))
    if any(compare(a.load(ANSWER), b.load(ANSWER), Names()) is False for a, b in pairs):
        return ""
    return "time" if any(one.is_late or one.ending for one in mine) else "no fault"


def explain_absence(box: Sandbox, task: Task) -> Found:
    """Return why no peer passes the examples: the reference solution may fail them, too."""
    failing = check_peer(
        box, module=MODULE, peer=PeerProgram(task.reference, ""), tests=[task.tests]
    )
    is_wrong = bool(task.reference and failing)
    return ("wrong text" if is_wrong else "no peer"), [*failing.values()]


def find(box: Sandbox, task: Task, code: str, peer: PeerProgram, budget_s: float) -> Found:
    """Return what is found of a program.

    "example": it fails an example of the text; "noticed": a difference on which it is wrong, or far
    slower; "open": the judge does not know the answer; "too few": fewer than 50 inputs.
    """
    if task.examples:
        itself = PeerProgram(code, "")
        failing = check_peer(box, module=MODULE, peer=itself, tests=[task.tests])
        if failing:
            return "example", [f"{name}: {message}" for name, message in failing.items()]
    seen = compare_programs(
        box,
        module=MODULE,
        code=code,
        peer=peer,
        interface=task.interface,
        specification=task.text,
        tests=[task.tests],
        examples=task.calls,
        seed=hashlib.sha256((task.text + code).encode()).hexdigest(),
        budget_s=budget_s,
    )
    rulings = [rule(box, task, code, item) for item in seen.differences]
    details = [
        f"{ruling}: {item.call} gives {item.code}, peer {item.peer}"
        for ruling, item in zip(rulings, seen.differences, strict=True)
    ]
    details += [f"slower: {call}" for call in seen.slower]
    details += [f"{seen.agreed} of {seen.allowed} agree, {seen.inputs} tried; {seen.problem}"]
    if "code" in rulings or seen.slower:
        return "noticed", details
    if "open" in rulings:
        return "open", details
    return "too few" if seen.allowed < MIN_ALLOWED_INPUTS else "nothing", details


def rule(box: Sandbox, task: Task, code: str, item: FoundDifference) -> str:
    """Return the side that right programs refute: "code", "peer", or "open" if they disagree."""
    call, number = read_difference(task, item)
    references = [source for source in task.right if source != code][:REFERENCES]
    known = [task.reference] if task.reference else references
    answers = [answer(box, task, source, call) for source in known]
    truth = answers[0] if answers else None
    if truth is None or not all(agree(truth, other, number) for other in answers):
        return "open"
    if agree(answer(box, task, code, call), truth, number):
        return "peer"
    return "code"


def read_difference(task: Task, item: FoundDifference) -> tuple[Input, int]:
    """Return the call, and the number of the observation that differs: its answer or arguments."""
    body: list[Any] = ast.parse(item.call).body
    *assigned, last = body
    if not assigned:
        return Input(last.value, task.function), ANSWER
    *assigned, call = assigned
    values = {node.targets[0].id: node.value for node in assigned}
    call.value.args = [values.get(getattr(node, "id", ""), node) for node in call.value.args]
    return Input(call.value, task.function), AFTER


def answer(box: Sandbox, task: Task, source: str, call: Input) -> Answer:
    program = Program(box, MODULE, source, (task.function,))
    return program.run([call], 1.0, 1.0)[0]


def agree(one: Answer, other: Answer, number: int) -> bool:
    """Whether two programs answer the same, or leave or change their arguments in the same way."""
    if number == AFTER:
        changed = one.load_arguments(other), other.load_arguments(one)
        return changed == ({}, {}) or bool(compare(*changed, Names()))
    return bool(compare(one.load(number), other.load(number), Names()))


def results(options: argparse.Namespace) -> Iterator[tuple[str, str, Found]]:
    """Yield the task, the kind ("wrong" or "right") and what was found, of each program."""
    with open_sandbox() as box:
        tasks = list(read_tasks(options.data, options.programs, options.contracts))
        only = options.only.split(",") if options.only else [item.name for item in tasks]
        for task in tasks[options.first :: options.every]:
            if task.name not in only:
                continue
            peer = choose_peer(box, task)
            for kind, sources in (("wrong", task.wrong), ("right", task.right)):
                for code in sources[: options.programs]:
                    second = peer
                    if peer and not options.no_precondition:
                        second = restrict(task, code, peer)
                    if second is None:
                        found = explain_absence(box, task)
                    else:
                        found = find(box, task, code, second, options.budget)
                    if kind == "wrong" and found[0] in UNNOTICED and task.published:
                        found = find_fault(box, task, code) or found[0], found[1]
                    yield task.name, kind, found


def read_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a clone of RinCloud/TrickCatcher")
    parser.add_argument("--contracts", type=Path, help="HumanEvalPlus.jsonl[.gz] of a release")
    parser.add_argument("--every", type=int, default=1, help="take each Nth task")
    parser.add_argument("--first", type=int, default=0, help="leave the first N tasks out")
    parser.add_argument("--only", default="", help="names of tasks, with commas")
    parser.add_argument("--programs", type=int, default=3, help="wrong and right programs a task")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds a comparison")
    parser.add_argument("--no-precondition", action="store_true", help="compare on all inputs")
    parser.add_argument("--show", action="store_true", help="print what differs")
    return parser.parse_args(arguments)


def main() -> None:
    options = read_options()
    counts: dict[str, Counter[str]] = {"wrong": Counter(), "right": Counter()}
    for name, kind, (found, details) in results(options):
        counts[kind][found] += 1
        print(f"{name}: {kind}: {found}", flush=True)
        if options.show:
            print(*(f"    {line}" for line in details), sep="\n", flush=True)
    for kind, seen in counts.items():
        print(f"{kind} by the tests of HumanEval+: {seen.total()} programs")
        for found, number in seen.most_common():
            print(f"    {number:4} ({number / seen.total():.1%}) {MEANINGS[kind][found]}")


if __name__ == "__main__":
    main()
