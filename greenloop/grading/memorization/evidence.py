"""Memorization: replay of the tests' calls, and of variants, in a process without the tests."""

import ast
import random
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from greenloop.grading.context import GradingContext
from greenloop.grading.inputs.known_calls import read_vocabulary
from greenloop.grading.inputs.literals import LiteralMutator
from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import Answer, Program
from greenloop.grading.memorization.cases import read_cases
from greenloop.grading.memorization.detection import is_memorized
from greenloop.grading.memorization.special_cases import ANY_LINE, find_special_cases
from greenloop.records import Memorization
from greenloop.sandbox.guest.observation.inputs.calls import ANSWER
from greenloop.syntax.nodes import Definition, list_lines
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import has_hooks

_MAX_CALLS, _VARIANTS, _TRIES = 200, 80, 400
_BUDGET_S = 2.0  # of CPU time, for all variants


def measure(context: GradingContext, lines: Container[int] = ANY_LINE) -> Memorization | None:
    """Replay the tests' calls, and variants of them, without the tests.

    Functions and special cases count if they have one of the `lines`. None if no test calls code
    with only plain values, or if hooks or automatic fixtures of the tests could change the answers.
    """
    tests = [text for item in context.tests for text in context.read_test(item)]
    if any(has_hooks(item) or "autouse" in item for item in tests):
        return None
    cases, public = read_cases(context)
    if not cases:
        return None
    code, cases = context.code, cases[:_MAX_CALLS]

    def answer(source: str, inputs: Sequence[Input]) -> list[Answer]:
        return Program(context.sandbox, context.module, source, public).run(inputs, _BUDGET_S)

    called = list(zip(cases, answer(code, cases), strict=True))
    # Variants of calls that raise would raise as well, which shows nothing.
    returning = [case for case, answer_ in called if "value" in answer_.load(ANSWER)]
    variants = list(vary(returning, code, context.plan.seed))
    varied = list(zip(variants, answer(code, variants), strict=True))
    names = dict.fromkeys(case.name for case in cases)
    definitions = [i for i in ast.walk(parse_or_empty(code)) if isinstance(i, Definition)]
    functions = tuple(
        name
        for name in names
        if _has_line(definitions, name, lines)
        and is_memorized(
            code,
            [item for item in called if item[0].name == name],
            [item for variant, item in varied if variant.name == name],
        )
    )
    special_cases = find_special_cases(code, cases, variants, context.contract, answer, lines)
    return Memorization(
        reached=not functions and not special_cases,
        special_cases=special_cases,
        calls=len(cases),
        variants=len(variants),
        functions=functions,
    )


def measure_modules(
    modules: Sequence[tuple[GradingContext, Container[int]]],
) -> Memorization | None:
    """Do the same as `measure` for several modules, each with its own tests and changed lines."""
    found = [
        (context.module, item)
        for context, lines in modules
        if (item := measure(context, lines)) is not None
    ]
    if not found:
        return None
    return Memorization(
        reached=all(item.reached for _, item in found),
        calls=sum(item.calls for _, item in found),
        variants=sum(item.variants for _, item in found),
        functions=tuple(name for _, item in found for name in item.functions),
        special_cases=tuple(f"{name}, {i}" for name, item in found for i in item.special_cases),
    )


def _has_line(definitions: Sequence[Definition], function: str, lines: Container[int]) -> bool:
    """Whether a definition of the name's last part has one of the lines, or there is none."""
    name = function.rpartition(".")[2]
    named = (item for item in definitions if item.name == name)
    spans = [list_lines(item) for item in named]
    return not spans or any(line in lines for span in spans for line in span)


def vary(cases: Sequence[Input], code: str, seed: int) -> Iterator[Input]:
    """Yield calls and programs with changed literals, some for each function."""
    vocabulary = read_vocabulary("", "", [code])
    mutator = LiteralMutator(random.Random(seed), vocabulary)
    groups: dict[str, list[Input]] = {}
    for case in cases:
        groups.setdefault(case.name, []).append(case)
    for group in groups.values():
        seen = {case.text for case in group}
        count = len(seen) + _VARIANTS
        for at in range(_TRIES):
            case = group[at % len(group)]
            item = replace(case, node=mutator.mutate(case.node))
            if item.text not in seen and len(seen) < count:
                seen.add(item.text)
                yield item
