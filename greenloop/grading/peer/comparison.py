"""A search for inputs that the code and its peer answer differently."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from greenloop.grading.peer.answers import Names
from greenloop.grading.peer.growth import cut_arguments, is_deep
from greenloop.grading.peer.inputs import InputBuilder, Known
from greenloop.grading.peer.outcomes import Outcome, judge
from greenloop.grading.peer.records import Comparison, FoundDifference, PeerProgram
from greenloop.grading.peer.reduction import reduce_differences
from greenloop.grading.peer.runs import NOT_RUN, Input, Program
from greenloop.grading.peer.seeds import (
    find_calls,
    iterate_calls,
    read_call,
    read_public,
    read_vocabulary,
)
from greenloop.sandbox import Sandbox
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite import TestFile, read_conftest
from greenloop.testsuite.parser import parse_test_functions
from greenloop.testsuite.scenarios import build_scenarios
from greenloop.testsuite.variants.scenarios import ScenarioCase, split_cases

__all__ = ["Comparison", "FoundDifference", "PeerProgram", "check_peer", "compare_programs"]
_BATCH, _ENOUGH, _GENERATED, _MAX_SLOWER, _MAX_PROBLEM = 450, 450, 200, 3, 300
_MIN_BATCH = 100
_MAX_GROWTH = 2.25**6  # of the cost, where the size grows by 2.25
_TESTS_TIMEOUT_S = 6.0  # of a peer, which is written to be simple, not fast


def compare_programs(
    sandbox: Sandbox,
    *,
    module: str,
    code: str,
    peer: PeerProgram,
    interface: str,
    specification: str,
    tests: Sequence[TestFile],
    examples: Sequence[str],
    seed: str,
    budget_s: float = 3.0,
    peer_sandbox: Sandbox | None = None,
) -> Comparison:
    """Compare two programs on inputs fixed by `seed`; `examples` are calls as source text.

    The peer runs in `peer_sandbox`, where it needs other files than the code.

    No input is begun after `budget_s` seconds; shrinking differences takes at most as long again.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    public = read_public(interface, code)
    if not public:
        return Comparison(problem="no public function or class is known that could be called")
    mine = Program(sandbox, module, code, public)
    theirs = Program(peer_sandbox or sandbox, module, peer.code, public, peer.inputs)
    pair = _Pair(mine, theirs, _read_names(interface, specification))
    calls = [call for text in examples if (call := read_call(text, public))]
    known = Known(
        public=public,
        interface=interface if parse_or_none(interface or "?") else code,
        calls=[*calls, *find_calls([item.code for item in tests], module, public)],
        generated=theirs.generate(seed, _GENERATED),
        cases=_find_cases(tests, module, code, public),
        module=module,
    )
    vocabulary = read_vocabulary(specification, interface, [code, peer.code])
    builder = InputBuilder(known, vocabulary, seed)
    pair.deadline = time.monotonic() + budget_s  # reading many tests takes seconds, too
    pair.run_all(builder)
    pair.deadline = time.monotonic() + budget_s
    found = pair.summarize()
    return (
        replace(found, differing_tests=pair.list_differing_tests(tests))
        if found.differences
        else found
    )


def check_peer(
    sandbox: Sandbox, *, module: str, peer: PeerProgram, tests: Sequence[TestFile]
) -> dict[str, str]:
    """Return the ids of the tests that the peer fails, each with the message of its failure.

    A peer may be slow: what was not run until the time limit says nothing against it.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    if not any(parse_test_functions(item.code) for item in tests):
        return {}
    run = sandbox.run_tests(peer.code, tests, module=module, timeout_s=_TESTS_TIMEOUT_S)
    failing = run.failing_tests
    if run.ending != "finished":
        failing = frozenset(i.id for i in run.tests if i.outcome in ("failed", "error"))
    messages = {item.test: f"{item.exception}: {item.message}" for item in run.failures}
    return {test: messages.get(test, "") for test in sorted(failing)}


def _find_cases(
    tests: Sequence[TestFile], module: str, code: str, public: Sequence[str]
) -> list[ScenarioCase]:
    """Return the bodies of the tests where a public name is a class; calls say as much elsewhere."""
    tree = parse_or_none(code)
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)} if tree else set()
    if not classes.intersection(public):
        return []
    shared = read_conftest(tests)
    plans = [build_scenarios(item.code, module, code, conftest=shared) for item in tests]
    return [case for plan in plans for case in split_cases(plan)]


def _read_names(interface: str, specification: str) -> Names:
    tree = parse_or_none(interface)
    nodes = list(ast.walk(tree)) if tree else []
    declared = {node.target.id for node in nodes if _is_declared(node)}  # type: ignore[attr-defined]
    methods = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    words = frozenset(re.findall(r"\w+", f"{specification}\n{interface}"))
    return Names(words, frozenset(declared | methods))


def _is_declared(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)


def _cut(item: Input) -> Input | None:
    """Return an input of two thirds the size."""
    node = cut_arguments(item.node)
    return replace(item, node=node) if node else None


@dataclass
class _Pair:
    """Two programs, and the outcomes of the inputs that both were given."""

    code: Program
    peer: Program
    names: Names
    deadline: float = 0.0  # no input is begun after it
    tried: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        """Give inputs to the peer, and those that it allows to the code; each has half of the time."""
        answers = self.peer.run(inputs, self._seconds_left / 2)
        self.tried += sum(item.ending != NOT_RUN for item in answers)
        allowed = [
            (item, answer)
            for item, answer in zip(inputs, answers, strict=True)
            if answer.is_allowed and not answer.is_late
        ]
        mine = iter(self.code.run([item for item, _ in allowed], self._seconds_left))
        return [judge(item, next(mine), answer, self.names) for item, answer in allowed]

    @property
    def _seconds_left(self) -> float:
        return self.deadline - time.monotonic()

    def run_all(self, builder: InputBuilder) -> None:
        """Compare on a first batch of inputs, then on more until enough were compared."""
        inputs, missing = builder.build(), _BATCH
        while missing > 0 and (batch := list(islice(inputs, max(missing, _MIN_BATCH)))):
            found = self.ask(batch)
            self.outcomes += found
            builder.learn(len(batch), [item.item for item in found if item.agrees is not None])
            if self._seconds_left < 0 or self.is_interrupted:
                return
            missing = _ENOUGH - sum(item.agrees is not None for item in self.outcomes)

    @property
    def is_interrupted(self) -> bool:
        return self.code.is_interrupted or self.peer.is_interrupted

    def summarize(self) -> Comparison:
        tried = self.tried
        compared = [item for item in self.outcomes if item.agrees is not None]
        differing = [item for item in compared if not item.agrees]
        found = reduce_differences(differing, self.ask, self.deadline) if differing else []
        return Comparison(
            inputs=tried,
            allowed=len(compared),
            agreed=len(compared) - len(differing),
            differences=tuple(item.to_record() for item in found),
            slower=self._find_slower() if compared else (),
            problem=self._explain(bool(compared)),
        )

    def list_differing_tests(self, tests: Sequence[TestFile]) -> tuple[str, ...]:
        """Return the names of the tests that make a call, or are an input, that differs."""
        differing = [item.item for item in self.outcomes if item.agrees is False]
        texts = {item.text for item in differing if item.is_call}
        files = [item.code for item in tests]
        calls = iterate_calls(files, self.code.module, self.code.public)
        callers = {name for name, call in calls if ast.unparse(call) in texts}
        return tuple(sorted(callers | {item.name for item in differing if not item.is_call}))

    def _find_slower(self) -> tuple[str, ...]:
        """Return the smallest calls of growing ones on which the code is far slower, seen twice.

        A peer that does something else is no measure.
        """
        outcomes = [item for item in self.outcomes if not is_deep(item.item.node)]
        differing = {item.item.name for item in outcomes if item.agrees is False}
        suspects = [i for i in outcomes if i.is_slower and i.item.name not in differing]
        first = {item.item.name: item for item in reversed(suspects)}
        again = self.ask([item.item for item in first.values()][:_MAX_SLOWER])
        slower = (item for item in again if item.is_slower)
        return tuple(item.call for item in slower if self._grows_beyond_powers(item.item))

    def _grows_beyond_powers(self, item: Input) -> bool:
        """Return whether the code's cost grows faster with the size than its sixth power.

        Code that is plainly slow, four loops within each other, is not what is looked for.
        """
        while smaller := _cut(item):
            if not self.code.run([smaller], 0.0)[0].is_late:
                break
            item = smaller
        if not (smaller and (smallest := _cut(smaller))):
            return True
        costs = [self.code.run([one], 4.0, 1.0)[0].cpu_s for one in (item, smallest)]
        return costs[0] > _MAX_GROWTH * costs[1]

    def _explain(self, has_compared: bool) -> str:
        """Return why nothing, or not all, could be compared."""
        if has_compared:
            return self._limit(self.peer.errors)
        if not self.tried:
            return self._limit(self.peer.errors) or "no inputs were found for the interface"
        why = self._limit(self.peer.errors) or self._limit(self.code.errors, "the code")
        return why or f"the peer allows or answers none of {self.tried} inputs"

    @staticmethod
    def _limit(errors: Sequence[str], what: str = "the peer or its inputs") -> str:
        text = " ".join(errors[0].split())[:_MAX_PROBLEM] if errors else ""
        return f"{what}: {text}" if text else ""
