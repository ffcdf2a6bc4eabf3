"""Runs of a program on many inputs, in a process without the other program."""

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from greenloop.grading.inputs.programs import Input
from greenloop.sandbox import Sandbox
from greenloop.sandbox.guest.observation.inputs.calls import AFTER, ALLOWED, BEFORE
from greenloop.sandbox.limits import stretch
from greenloop.sandbox.work.observations import ObservedRow, load
from greenloop.syntax.parse import parse_or_empty

_ROW_CPU_S, _MIN_CPU_S, _GENERATOR_CPU_S, _MAX_RESTARTS = 0.1, 0.5, 4.0, 4
_WALL_FACTOR, _MIN_WALL_S = 8.0, 5.0  # for a process that waits, or on a busy machine
NOT_RUN = "was not run"
_CALLS = """\
{limits}
programs = [(create_calls__({source!r}, {public!r}).answer, (), {rows})]
"""
_GENERATOR = """\
row_cpu_s = {seconds}
programs = [(create_calls__({source!r}, {public!r}).generate, (), [{row}])]
"""


@dataclass(frozen=True)
class Answer:
    """Answer of a program to an input; `ending` is '' if the program came to its end."""

    observed: tuple[tuple[int, str], ...] = ()
    ending: str = NOT_RUN
    cpu_s: float = 0.0
    is_late: bool = False

    def load(self, number: int) -> dict[str, Any]:
        text = next((text for key, text in self.observed if key == number), "")
        return load(text) if text else {}

    @property
    def is_allowed(self) -> bool:
        """Whether the precondition does not forbid the call, and the call was made."""
        allowed = self.load(ALLOWED)
        return not self.ending and (not allowed or allowed.get("value") is True)

    @property
    def changes_arguments(self) -> bool:
        return any(number == AFTER for number, _ in self.observed)

    def load_arguments(self, other: "Answer") -> dict[str, Any]:
        """Return the arguments after the call; if unchanged, as `other` has them before it."""
        return self.load(AFTER) or other.load(BEFORE)


@dataclass
class Program:
    """A program in the sandbox; `inputs` is the source of a precondition and a generator."""

    sandbox: Sandbox
    module: str
    code: str
    public: tuple[str, ...]
    inputs: str = ""
    errors: list[str] = field(default_factory=list)
    is_interrupted: bool = False
    spent_s: float = 0.0  # CPU time of its runs

    def run(self, inputs: Sequence[Input], for_s: float, cpu_s: float = _ROW_CPU_S) -> list[Answer]:
        """Run each input for at most `cpu_s`, begin none after `for_s`, and return the answers.

        Both are seconds of CPU time, so that the load of the machine changes nothing.
        """
        end = self.spent_s + max(for_s, _MIN_CPU_S)
        texts: dict[tuple[bool, str], list[int]] = {}
        for at, item in enumerate(inputs):
            texts.setdefault((item.is_call, item.preamble), []).append(at)
        found: dict[int, Answer] = {}
        for places in texts.values():
            made = self._run_group([inputs[at] for at in places], end, cpu_s)
            found |= zip(places, made, strict=True)
        return [found[at] for at in range(len(inputs))]

    def _run_group(self, inputs: list[Input], end: float, cpu_s: float) -> list[Answer]:
        """Run inputs with one preamble; if one ends the process, go on with those after it."""
        found: list[Answer] = []
        for _ in range(_MAX_RESTARTS):
            left = inputs[len(found) :]
            for_s = end - self.spent_s
            if not left or for_s <= 0 or self.is_interrupted:
                break
            made, is_complete = self._run_once(left, for_s, cpu_s)
            found += made
            if not made or is_complete:
                break
        return found + [Answer()] * (len(inputs) - len(found))

    def _run_once(
        self, inputs: Sequence[Input], for_s: float, cpu_s: float
    ) -> tuple[list[Answer], bool]:
        """Return the answers, and whether the process came to its end."""
        build = self._build_calls if inputs[0].is_call else self._build_functions
        text = build(inputs, f"row_cpu_s = {cpu_s}\nbegin_for_cpu_s = {for_s}")
        wall_s = _limit_wall(for_s)
        seen = self.sandbox.observe(self.code, self.module, text, timeout_s=wall_s)
        if seen.error:
            self.errors.append(seen.error)
            self.is_interrupted = "(interrupted" in seen.error
        rows = seen.rows[: len(inputs)]
        # A row that does not end reports no CPU time; a run out of time counts as all of it.
        late_s = for_s if "(timeout" in seen.error else 0.0
        self.spent_s += late_s + sum(row.cpu_s if row.has_ended else cpu_s for row in rows)
        return [_read_row(row, seen.error) for row in rows], not seen.error

    def _build_calls(self, inputs: Sequence[Input], limits: str) -> str:
        rows = [(item.text,) for item in inputs]
        return _CALLS.format(limits=limits, source=self.inputs, public=self.public, rows=rows)

    def _build_functions(self, inputs: Sequence[Input], limits: str) -> str:
        parts = [limits, inputs[0].preamble, *self._build_guards(inputs[0].preamble)]
        entries = []
        for number, item in enumerate(inputs):
            function: Any = copy.copy(item.node)
            function.name = f"program_{number}"
            parts.append(ast.unparse(function))
            entries.append(f"({function.name}, {item.fixtures!r}, [()])")
        return "\n".join([*parts, f"programs = [{', '.join(entries)}]\n"])

    def _build_guards(self, preamble: str) -> Iterator[str]:
        """Yield lines that put the precondition before the functions that a preamble imports."""
        body = parse_or_empty(preamble if self.inputs else "").body
        imports = [node for node in body if isinstance(node, ast.ImportFrom)]
        names = [item for node in imports if node.module == self.module for item in node.names]
        public = [item for item in names if item.name in self.public]
        if public:
            yield f"guard__ = create_calls__({self.inputs!r}, {self.public!r}).guard"
        for item in public:
            yield f"{item.asname or item.name} = guard__({item.name!r})"

    def generate(self, seed: str, count: int) -> list[str]:
        """Return the inputs that the generator yields, as source of calls; it may end early."""
        if not self.inputs:
            return []
        text = _GENERATOR.format(
            source=self.inputs, public=self.public, row=(seed, count), seconds=_GENERATOR_CPU_S
        )
        wall_s = _limit_wall(_GENERATOR_CPU_S)
        seen = self.sandbox.observe(self.code, self.module, text, timeout_s=wall_s)
        self.errors += filter(None, [seen.error, *(row.error for row in seen.rows)])
        values = [load(text).get("value") for row in seen.rows for _, text in row.observations]
        lists = [item[1:] for item in values if isinstance(item, list) and item[:1] == ["list"]]
        return [text for item in lists for text in item if isinstance(text, str)]


def _limit_wall(cpu_s: float) -> float:
    """Return the time limit, in wall-clock seconds, of a process that may use `cpu_s`."""
    return stretch(_WALL_FACTOR * cpu_s + _MIN_WALL_S)


def _read_row(row: ObservedRow, error: str) -> Answer:
    ending = ""
    if not row.has_ended:
        ending = error or "did not end"
    if row.error is not None and not row.observations:
        ending = row.error
    is_late = any("CpuTimeExceeded" in text[:200] for _, text in row.observations)
    return Answer(row.observations, ending, row.cpu_s, is_late)
