"""Detection by a second reading: published programs that pass their tests, wrong and right ones.

    git clone https://github.com/RinCloud/TrickCatcher
    python bench/trickcatcher.py --data TrickCatcher [--every N] [--programs N]

The programs of its data set EvalPlus pass the tests of HumanEval; those of HumanEval+ tell wrong from
right. Peers are the programs that a model wrote from the text alone; one that fails the examples in the
text is replaced by the next that passes. The judge knows the truth: what several right programs answer. The
data has no preconditions, which a peer's writer gives as `allowed`: inputs are taken on which other right
programs agree and raise nothing (`--no-precondition`: all). Printed are the share of wrong programs that
are noticed, and of right ones that lose `verified`.
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.grading.peer.answers import Names, compare
from greenloop.grading.peer.comparison import PeerProgram, check_peer, compare_programs
from greenloop.grading.peer.records import FoundDifference
from greenloop.grading.peer.runs import Answer, Input, Program
from greenloop.records import GivenExample
from greenloop.records.evidence.peer import MIN_ALLOWED_INPUTS
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.guest.scenarios.inputs.calls import ANSWER
from greenloop.specification.example_tests import render_example_tests
from greenloop.specification.examples import analyze_specification, filter_usable_examples
from greenloop.specification.reading.doctests import parse_doctest
from greenloop.testsuite import TestFile

MODULE, REFERENCES = "solution", 3
PRECONDITION_REFERENCES = 8  # as many as there are, for what the text allows


@dataclass(frozen=True)
class Task:
    """A task with its text, stub, and programs as source; `inputs` are tuples that a model wrote."""

    name: str
    function: str
    text: str
    interface: str
    examples: tuple[GivenExample, ...]
    inputs: list[list[object]]
    peers: tuple[str, ...]
    wrong: tuple[str, ...]
    right: tuple[str, ...]

    @property
    def tests(self) -> TestFile:
        return TestFile(f"test_{MODULE}.py", render_example_tests(MODULE, self.examples))

    @property
    def calls(self) -> list[str]:
        """What the examples call, each as one expression."""
        parts = (part for item in self.examples for part in parse_doctest(item.doctest))
        return [item.source.strip().partition(" == ")[0] for item in parts]


def read_tasks(data: Path, programs: int) -> Iterator[Task]:
    root = data / "Datasets" / "EvalPlus"
    inputs = json.loads((root / "GenInputs" / "gen_inputs_direct.json").read_text("utf-8"))
    written = read_table(root / "GenProgs" / "dfp_submit_res.csv")
    repaired = read_table(root / "GenProgs" / "tc_submit_res_base_and_extra.csv")
    for folder in sorted((root / "PUTs").iterdir(), key=lambda item: int(item.name.split("_")[1])):
        number = folder.name.split("_")[1]
        wrong = [item.read_text("utf-8") for item in folder.glob("*.py")]
        right: list[str] = []
        for row in repaired.get(number, ()):
            path = root / "GenProgs" / "tc_generated_progs" / folder.name / row["sol_name"]
            if row["submit_res"] == "True" and path.is_file():
                (right if row["extra_submit_res"] == "True" else wrong).append(
                    path.read_text("utf-8")
                )
        peers = sorted((root / "GenProgs" / "dfp_generated_progs" / folder.name).glob("*.py"))
        sources = {item.name: item.read_text("utf-8") for item in peers}
        known = [
            sources[row["sol_name"]]
            for row in written.get(number, ())
            if row["submit_res"] == "True"
        ]
        task = build_task(folder.name, wrong, [*right, *known], tuple(sources.values()), programs)
        if task:
            yield Task(**task, inputs=inputs.get(folder.name.replace("_", "/"), []))


def read_table(path: Path) -> dict[str, list[dict[str, str]]]:
    """Return the rows of a table by the number of their task."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(path.open(encoding="utf-8")):
        found.setdefault(row["pid"], []).append(row)
    return found


def build_task(
    name: str, wrong: Sequence[str], right: Sequence[str], peers: tuple[str, ...], programs: int
) -> dict[str, object] | None:
    """Return the fields of a task; None where its text or a right program cannot be read."""
    functions = [node for node in ast.parse(wrong[0]).body if isinstance(node, ast.FunctionDef)]
    documented = [node for node in functions if ast.get_docstring(node)]
    if not documented or not right:
        return None
    function = documented[-1]
    text = ast.get_docstring(function) or ""
    found = analyze_specification(text).examples
    examples = filter_usable_examples(found, frozenset({function.name}))
    stub = ast.FunctionDef(
        function.name, function.args, [ast.Expr(ast.Constant(...))], [], function.returns
    )
    return {
        "name": name,
        "function": function.name,
        "text": text,
        "interface": ast.unparse(ast.fix_missing_locations(stub)),
        "examples": examples,
        "peers": peers,
        "wrong": tuple(dict.fromkeys(map(normalize, wrong)))[:programs],
        "right": tuple(dict.fromkeys(map(normalize, right)))[
            : max(programs, PRECONDITION_REFERENCES + 1)
        ],
    }


def normalize(source: str) -> str:
    """Return a program in one form, as given where it does not parse.

    Some programs were completions of a text whose imports are not repeated in them.
    """
    try:
        return f"from typing import *\n{ast.unparse(ast.parse(source))}"
    except SyntaxError:
        return source


# Two right programs that answer an input differently, or one that raises, tell that it is not allowed.
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
    """Return the peer with a precondition that other right programs than `code` stand for."""
    sources = [source for source in task.right if source != code][:PRECONDITION_REFERENCES]
    allowed = PRECONDITION.format(sources=sources, function=task.function)
    return PeerProgram(peer.code, peer.inputs + allowed)


def fit_inputs(box: Sandbox, task: Task) -> list[tuple[object, ...]]:
    """Return the data's inputs, each in the first form that a right program answers."""
    forms = [list(iterate_forms(item)) for item in task.inputs[:100]]
    calls = [build_call(task, form) for item in forms for form in item]
    program = Program(box, MODULE, task.right[0], (task.function,), float("inf"))
    answers = iter([not made.ending and has_answered(made) for made in program.run(calls)])
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
    """Return the first peer, or else the next that passes the examples.

    A second call shows the examples that the first peer fails; the next that passes stands for it.
    """
    source = f"def inputs(rng):\n    yield from {fit_inputs(box, task)!r}\n"
    for code in task.peers:
        peer = PeerProgram(code, source)
        if not task.examples or not check_peer(box, module=MODULE, peer=peer, tests=[task.tests]):
            return peer
    return None


def find(box: Sandbox, task: Task, code: str, peer: PeerProgram, budget_s: float) -> str:
    """Return what is found of a program, "" for nothing.

    "example": it fails an example of the text; "noticed": a difference on which it is wrong, or far
    slower; "open": right programs do not agree on a difference; "too few": fewer than 50 inputs.
    """
    if task.examples and check_peer(
        box, module=MODULE, peer=PeerProgram(code, ""), tests=[task.tests]
    ):
        return "example"
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
    rulings = [rule(box, task, code, peer, item) for item in seen.differences]
    if "code" in rulings or seen.slower:
        return "noticed"
    if "open" in rulings:
        return "open"
    return "too few" if seen.allowed < MIN_ALLOWED_INPUTS else ""


def rule(box: Sandbox, task: Task, code: str, peer: PeerProgram, item: FoundDifference) -> str:
    """Return who is wrong by right programs: "code", "peer", or "open" where these do not agree."""
    call = Input(ast.parse(item.call, mode="eval").body, task.function)
    references = [source for source in task.right if source != code][:REFERENCES]
    truth, *others = [answer(box, task, source, call) for source in references] or [None]
    if truth is None or not all(agree(truth, other) for other in others):
        return "open"
    if agree(answer(box, task, code, call), truth):
        return "peer"
    return "code"


def answer(box: Sandbox, task: Task, source: str, call: Input) -> Answer:
    program = Program(box, MODULE, source, (task.function,), float("inf"))
    return program.run([call], 1.0)[0]


def agree(one: Answer, other: Answer | None) -> bool:
    return other is not None and bool(compare(one.load(ANSWER), other.load(ANSWER), Names()))


def results(
    data: Path,
    every: int = 1,
    programs: int = 3,
    budget_s: float = 3.0,
    *,
    precondition: bool = True,
) -> Iterator[tuple[str, str, str]]:
    """Yield the task, the kind ("wrong" or "right") and what was found, of each program."""
    with open_sandbox() as box:
        for task in list(read_tasks(data, programs))[::every]:
            peer = choose_peer(box, task)
            for kind, sources in (("wrong", task.wrong), ("right", task.right)):
                for code in sources[:programs]:
                    second = restrict(task, code, peer) if peer and precondition else peer
                    found = find(box, task, code, second, budget_s) if second else "no peer"
                    yield task.name, kind, found or "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="take each Nth task")
    parser.add_argument("--programs", type=int, default=3, help="wrong and right programs a task")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds a comparison")
    parser.add_argument("--no-precondition", action="store_true", help="compare on all inputs")
    chosen = parser.parse_args()
    counts: dict[str, Counter[str]] = {"wrong": Counter(), "right": Counter()}
    found_by = results(
        chosen.data,
        chosen.every,
        chosen.programs,
        chosen.budget,
        precondition=not chosen.no_precondition,
    )
    for name, kind, found in found_by:
        counts[kind][found] += 1
        print(f"{name}: {kind}: {found}", flush=True)
    for kind, seen in counts.items():
        said = ", ".join(f"{name} {n} ({n / seen.total():.0%})" for name, n in seen.most_common())
        print(f"{kind}: {seen.total()} programs: {said}")


if __name__ == "__main__":
    main()
