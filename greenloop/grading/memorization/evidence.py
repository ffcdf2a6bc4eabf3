"""Memorization: the tests' calls, and variants of them, in a process without the tests."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence

from greenloop.grading.context import GradingContext
from greenloop.grading.inputs.builder import Input
from greenloop.grading.inputs.known_calls import (
    iterate_calls,
    read_constants,
    read_public,
    read_vocabulary,
)
from greenloop.grading.inputs.literals import LiteralMutator
from greenloop.grading.inputs.runs import Answer, Program
from greenloop.grading.memorization.detection import is_memorized
from greenloop.grading.memorization.special_cases import find_special_cases
from greenloop.records import Memorization
from greenloop.sandbox.guest.observation.inputs.calls import ANSWER
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.module_calls import read_imports
from greenloop.testsuite.parser import has_hooks

_MAX_CALLS, _VARIANTS, _TRIES = 200, 80, 400
_BUDGET_S = 2.0  # of CPU time, for all variants


def measure(context: GradingContext) -> Memorization | None:
    """Replay the tests' calls, and variants of them, without the tests.

    None where no test calls the code with plain values alone, or where hooks and automatic fixtures
    of the tests could change the answers.
    """
    tests = [item.code for item in context.tests]
    if any(has_hooks(item) or "autouse" in item for item in tests):
        return None
    code, public = context.code, _list_called(context)
    found = iterate_calls(tests, context.module, public, read_constants(code))
    unique = {ast.unparse(call): call for _, call in found if call.args or call.keywords}
    calls = list(unique.values())[:_MAX_CALLS]
    if not calls:
        return None

    def answer(source: str, inputs: Sequence[Input]) -> list[Answer]:
        return Program(context.sandbox, context.module, source, public).run(inputs, _BUDGET_S)

    called = list(zip(calls, answer(code, [*map(_to_input, calls)]), strict=True))
    # Of calls that raise, other forms raise as well, which says nothing.
    returning = [call for call, answer_ in called if "value" in answer_.load(ANSWER)]
    variants = list(vary_calls(returning, code, context.plan.seed))
    varied = list(zip(variants, answer(code, variants), strict=True))
    functions = tuple(
        name
        for name in public
        if is_memorized(
            code,
            [item for item in called if ast.unparse(item[0].func) == name],
            [item for variant, item in varied if variant.name == name],
        )
    )
    special_cases = find_special_cases(code, calls, variants, context.contract, answer)
    return Memorization(
        reached=not functions and not special_cases,
        special_cases=special_cases,
        calls=len(calls),
        variants=len(variants),
        functions=functions,
    )


def _list_called(context: GradingContext) -> tuple[str, ...]:
    """Return the public names of the module, and what else of it the tests import."""
    trees = (parse_or_empty(item.code) for item in context.tests)
    imported = (name for tree in trees for name in read_imports(tree, context.module).values())
    return tuple(dict.fromkeys([*read_public("", context.code), *filter(None, imported)]))


def vary_calls(calls: Sequence[ast.Call], code: str, seed: int) -> Iterator[Input]:
    """Yield calls with changed literals, some of each function."""
    vocabulary = read_vocabulary("", "", [code])
    mutator = LiteralMutator(random.Random(seed), vocabulary)
    groups: dict[str, list[ast.Call]] = {}
    for call in calls:
        groups.setdefault(ast.unparse(call.func), []).append(call)
    for group in groups.values():
        seen = {ast.unparse(call) for call in group}
        count = len(seen) + _VARIANTS
        for at in range(_TRIES):
            item = _to_input(mutator.mutate(group[at % len(group)]))
            if item.text not in seen and len(seen) < count:
                seen.add(item.text)
                yield item


def _to_input(call: ast.Call) -> Input:
    return Input(call, ast.unparse(call.func))
