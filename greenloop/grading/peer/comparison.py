"""Search for inputs that the code and its peer answer differently."""

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from greenloop.grading.inputs.builder import InputBuilder, Known
from greenloop.grading.inputs.known_calls import (
    iterate_calls,
    read_call,
    read_constants,
    read_public,
    read_vocabulary,
)
from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import Program
from greenloop.grading.peer.names import read_names
from greenloop.grading.peer.outcomes import Outcome
from greenloop.grading.peer.pair import Pair
from greenloop.grading.peer.records import Comparison, FoundDifference, PeerProgram
from greenloop.grading.peer.reduction import reduce_differences
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.syntax.nodes import Function, copy_tree, fold_signs
from greenloop.syntax.parse import parse_or_empty, parse_or_none
from greenloop.testsuite import TestFile, read_conftest
from greenloop.testsuite.parser import parse_test_functions
from greenloop.testsuite.programs import build_programs
from greenloop.testsuite.programs.source import walk_names

__all__ = [
    "Comparison",
    "FoundDifference",
    "PeerProgram",
    "check_peer",
    "compare_programs",
    "list_failures",
]
_Called = tuple[str, ast.Call]  # a test function's name, and a call in it
_GENERATED, _MAX_EXPLAINED, _MAX_ROWS = 200, 60, 8
_THREADS = frozenset({"threading", "Thread", "concurrent", "ThreadPoolExecutor", "multiprocessing"})


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
    budget_s: float = 12.0,
    peer_sandbox: Sandbox | None = None,
    failing: Collection[str] = (),
) -> Comparison:
    """Compare two programs on inputs fixed by `seed`; `examples` are calls as source text.

    The peer runs in `peer_sandbox` if it needs other files than the code. `failing` are names of
    tests that it fails: their calls are compared too if no other input shows the difference.
    No input is begun once both have spent `budget_s` seconds of CPU time; shrinking differences
    takes at most as long again.

    Raises SandboxError: the sandbox cannot run anything.
    """
    if not (public := read_public(interface, code)):
        return Comparison(problem="there is no public function or class to call")
    mine = Program(sandbox, module, code, public)
    theirs = Program(peer_sandbox or sandbox, module, peer.code, public, peer.inputs)
    constants = read_constants(code) & read_constants(peer.code)
    called = list(iterate_calls([item.code for item in tests], module, public, constants))
    calls = [call for text in examples if (call := read_call(text, public, constants))]
    calls += {ast.unparse(call): call for _, call in called}.values()
    stubs = interface if parse_or_none(interface or "?") else code
    cases = bodies = _find_cases(tests, module)
    if not _has_classes(code, public):
        # A test's calls show as much as its body, unless the body reads files or streams.
        callers = {name for name, _ in called}
        cases = [item for item in bodies if item.fixtures or _bare(item.name) not in callers]
    known = Known(public, constants, stubs, calls, theirs.generate(seed, _GENERATED), cases, module)
    words = read_vocabulary(specification, interface, [code, peer.code])
    names = read_names(interface, specification, code, peer.code)
    pair = Pair(mine, theirs, names, budget_s, given=known.texts)
    pair.run_all(InputBuilder(known, words, seed))
    pair.renew(budget_s)
    found = pair.summarize()
    explained = _name_tests(pair.outcomes, found.differences, called)
    if left := frozenset(failing) - explained:
        found = _add_failing(pair.without_precondition(budget_s), found, left, called, bodies)
    return replace(found, differing_tests=tuple(sorted(explained.union(found.differing_tests))))


def check_peer(
    sandbox: Sandbox, *, module: str, peer: PeerProgram, tests: Sequence[TestFile]
) -> dict[str, str]:
    """Return the ids of the tests that the peer fails, each with the message of its failure.

    A peer may be slow: tests that were not run within the time limit do not count as failed.
    Raises SandboxError: the sandbox cannot run anything.
    """
    if not any(parse_test_functions(item.code) for item in tests):
        return {}
    return list_failures(sandbox.run_tests(peer.code, tests, module=module))


def list_failures(run: TestRun) -> dict[str, str]:
    """Return the failed tests with messages; of an interrupted run, only tests that ended."""
    failing = run.failing_tests
    if run.ending != "finished":
        failing = frozenset(i.id for i in run.tests if i.outcome in ("failed", "error"))
    messages = {item.test: f"{item.exception}: {item.message}" for item in run.failures}
    return {test: messages.get(test, "") for test in sorted(failing)}


def _has_classes(code: str, public: Sequence[str]) -> bool:
    nodes = parse_or_empty(code).body
    return any(isinstance(node, ast.ClassDef) and node.name in public for node in nodes)


def _find_cases(tests: Sequence[TestFile], module: str) -> list[Input]:
    """Return the programs of the tests, at most some rows of each."""
    shared = read_conftest(tests)
    found: list[Input] = []
    for plan in (build_programs(item.code, module, shared) for item in tests):
        rows = Counter[str]()
        preamble = ast.unparse(_ErrorStream().visit(parse_or_empty(plan.preamble)))
        for item in plan.programs:
            rows[item.test] += 1
            # A changed program may not wait for its threads: what they do is then chance.
            if rows[item.test] <= _MAX_ROWS and _THREADS.isdisjoint(walk_names(item.function)):
                function = _without_wording(fold_signs(copy_tree(item.function)))
                found.append(Input(function, item.test, preamble, item.fixtures))
    return found


def _without_wording(function: Function) -> Function:
    """Return a test's program without its observations of caught exceptions, such as wording."""
    caught = {
        item.optional_vars.id
        for node in ast.walk(function)
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name)
    }
    function.body = [
        node
        for node in function.body
        if isinstance(node, ast.With) or caught.isdisjoint(walk_names(node))
    ]
    _ErrorStream().visit(function)
    return function


class _ErrorStream(ast.NodeTransformer):
    """Transformer of output on standard error to a fixed text: only its presence is compared."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        is_stream = isinstance(node.value, ast.Name) and node.value.id in ("sys", "subprocess")
        if node.attr not in ("err", "stderr") or is_stream or not isinstance(node.ctx, ast.Load):
            return node
        shown = ast.IfExp(node, ast.Constant("an error message"), ast.Constant(""))
        return ast.fix_missing_locations(ast.copy_location(shown, node))


def _name_tests(
    outcomes: Iterable[Outcome], shown: Sequence[FoundDifference], called: Iterable[_Called]
) -> frozenset[str]:
    """Return the tests with a differing input in a cluster that a shown difference represents."""
    clusters = {item.cluster for item in shown}
    items = [i.item for i in outcomes if i.agrees is False and i.cluster in clusters]
    texts = {item.text for item in items if item.is_call}
    callers = {name for name, call in called if ast.unparse(call) in texts}
    return frozenset(callers | {_bare(item.name) for item in items if not item.is_call})


def _add_failing(
    pair: Pair,
    found: Comparison,
    tests: Collection[str],
    called: Sequence[_Called],
    cases: Sequence[Input],
) -> Comparison:
    """Add the differences of failing tests' calls, or of their bodies if no call differs."""
    calls = [Input(call, ast.unparse(call.func)) for name, call in called if name in tests]
    differing = [item for item in pair.ask(calls[:_MAX_EXPLAINED]) if item.agrees is False]
    texts = {item.item.text for item in differing}
    left = {*tests} - {name for name, call in called if ast.unparse(call) in texts}
    bodies = [item for item in cases if _bare(item.name) in left]
    outcomes = pair.ask(bodies[:_MAX_EXPLAINED])
    differing += [item for item in outcomes if item.agrees is False]
    more = [item.to_record() for item in reduce_differences(differing, pair, rounds=0)]
    names = tuple(_name_tests(differing, more, called))
    return replace(found, differences=(*found.differences, *more), differing_tests=names)


def _bare(test: str) -> str:
    return test.rpartition("::")[2]
