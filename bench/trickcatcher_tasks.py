"""Tasks of the published programs: texts, examples, programs, and contracts of their inputs."""

from __future__ import annotations

import ast
import csv
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.records import GivenExample
from greenloop.specification.example_tests import render_example_tests
from greenloop.specification.examples import analyze_specification, filter_usable_examples
from greenloop.specification.reading.doctests import parse_doctest
from greenloop.testsuite import TestFile

MODULE = "solution"
MAX_CALL = 20_000
PRECONDITION_REFERENCES = 8  # right programs that decide which inputs the text allows


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
    reference: str = ""  # a right program that the judge knows
    contract: str = ""  # the source of a precondition `allowed`
    published: tuple[str, ...] = ()  # the calls of the tests of HumanEval+

    @property
    def tests(self) -> TestFile:
        return TestFile(f"test_{MODULE}.py", render_example_tests(MODULE, self.examples))

    @property
    def calls(self) -> list[str]:
        """The calls of the examples, each as one expression."""
        parts = (part for item in self.examples for part in parse_doctest(item.doctest))
        return [item.source.strip().partition(" == ")[0] for item in parts]


def read_contracts(path: Path) -> dict[str, dict[str, Any]]:
    """Return the reference solution, precondition and inputs of each task of HumanEval+.

    `path` is a file HumanEvalPlus.jsonl of a release, which may be compressed.
    """
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    found = {}
    for row in map(json.loads, text.splitlines()):
        contract = f"{row['contract'].rstrip()}\n    return True\n"
        allowed = f"{row['prompt']}{contract}\nallowed = {row['entry_point']}\n"
        reference = row["prompt"] + row["canonical_solution"]
        name = row["task_id"].replace("/", "_")
        given = [*row["base_input"], *row["plus_input"]]
        calls = [f"{row['entry_point']}({', '.join(map(repr, item))})" for item in given]
        published = tuple(call for call in calls if len(call) <= MAX_CALL)
        found[name] = {"reference": reference, "contract": allowed, "published": published}
    return found


def read_tasks(data: Path, programs: int, contracts: Path | None = None) -> Iterator[Task]:
    """Yield the tasks whose text can be read and for which a right program is known."""
    known_contracts = read_contracts(contracts) if contracts else {}
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
            given = inputs.get(folder.name.replace("_", "/"), [])
            yield Task(**task, inputs=given, **known_contracts.get(folder.name, {}))


def read_table(path: Path) -> dict[str, list[dict[str, str]]]:
    """Return the rows of a table by the number of their task."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(path.open(encoding="utf-8")):
        found.setdefault(row["pid"], []).append(row)
    return found


def build_task(
    name: str, wrong: Sequence[str], right: Sequence[str], peers: tuple[str, ...], programs: int
) -> dict[str, Any] | None:
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
