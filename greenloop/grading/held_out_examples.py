"""Held-out examples: calls answered in a process without tests, compared on the host."""

import re
from collections.abc import Sequence
from typing import Any

from greenloop.grading.context import GradingContext
from greenloop.grading.observation.values import encode
from greenloop.grading.peer.answers import is_strictly_equal
from greenloop.records import HeldOut, HeldOutExample, has_enough_examples
from greenloop.records.contract import MIN_HELD_OUT
from greenloop.syntax.values import read_plain_value
from greenloop.testsuite.held_out_examples import is_usable, may_have_examples

_WORD = re.compile(r"[^\W\d]\w*")


def measure(context: GradingContext) -> HeldOut | None:
    """Compare the code's answers with the held-out examples; put failing ones into `context`.

    Examples whose call or expected value cannot be parsed are `invalid` and do not count.
    Raises SandboxError: the sandbox cannot run anything.
    """
    if context.held_out:
        return measure_modules([context])
    sources = [file.code for file in context.tests]
    is_possible = not context.contract or may_have_examples(sources)
    return None if is_possible else HeldOut(reached=True, total=0, agreed=0)


def measure_modules(contexts: Sequence[GradingContext]) -> HeldOut:
    """Do the same as `measure` for several modules, each with its own examples.

    Raises SandboxError: the sandbox cannot run anything.
    """
    given = [item for context in contexts for item in context.held_out]
    valid, late = list[HeldOutExample](), ""
    for context in contexts:
        words = _WORD.findall(f"{context.module} {context.code} {context.interface}")
        tried = [item for item in context.held_out if is_usable(item, frozenset(words))]
        valid += tried
        agreeing, cut_short = _find_agreeing(context, tried) if tried else (set(), "")
        context.disagreements = tuple(i for at, i in enumerate(tried) if at not in agreeing)
        late = late or cut_short
    wrong = [item for context in contexts for item in context.disagreements]
    allowed = (1 - contexts[0].thresholds.held_out_agreement) * len(valid)
    return HeldOut(
        reached=has_enough_examples(valid) and len(wrong) <= allowed,
        total=len(valid),
        agreed=len(valid) - len(wrong),
        disagreed=tuple(item.call for item in wrong),
        invalid=tuple(item.call for item in given if item not in valid),
        cut_short=late or ("" if has_enough_examples(valid) else _explain_few(valid)),
    )


def _explain_few(examples: Sequence[HeldOutExample]) -> str:
    with_values = sum(item.returns is not None for item in examples)
    return (
        f"{len(examples)} can be used, {with_values} of them with values "
        f"(at least {MIN_HELD_OUT}, half of them with values)"
    )


def _find_agreeing(
    context: GradingContext, examples: Sequence[HeldOutExample]
) -> tuple[set[int], str]:
    """Return the positions of the agreeing examples, and how far a run that timed out got."""
    calls = [item.call for item in examples]
    seen = context.sandbox.evaluate_calls(context.code, context.module, calls)
    answered = sum(event is not None for event in seen.events)
    late = f"out of time after {answered} of {len(examples)} calls"
    pairs = enumerate(zip(examples, seen.events, strict=True))
    agreeing = {at for at, (example, event) in pairs if event and _agrees(example, event)}
    return agreeing, late if "(timeout" in seen.error else ""


def _agrees(example: HeldOutExample, answer: dict[str, Any]) -> bool:
    """Return whether an answer, which untrusted code may have written, matches an example."""
    try:
        if example.raises is not None:
            names = [name.rpartition(".")[2] for _, name in answer["error"][1]]
            return example.raises.rpartition(".")[2] in names
        expected = encode(read_plain_value(example.returns or ""))
        return is_strictly_equal(expected, answer["value"])
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        return False
