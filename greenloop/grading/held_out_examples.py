"""Held-out examples: the code answers calls in its own process, and is compared in this one."""

from __future__ import annotations

import ast
import base64
import math
from collections.abc import Callable, KeysView, Sequence
from typing import Any

from greenloop.grading.context import GradingContext
from greenloop.records import HeldOut, HeldOutExample
from greenloop.sandbox.api import CallResults
from greenloop.testsuite.held_out_examples import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE


class _UnequalValue:
    """A value that no literal can equal."""


def measure(context: GradingContext) -> HeldOut | None:
    """Compare the code's answers with the examples; those that fail are put into the context.

    Examples whose call or expected value cannot be parsed are `invalid` and do not count.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    if not context.held_out:
        return None
    valid = [item for item in context.held_out if _is_valid(item)]
    calls = [item.call for item in valid]
    answers = context.sandbox.evaluate_calls(context.code, context.module, calls)
    pairs = zip(valid, answers.events, strict=True)
    wrong = tuple(item for item, event in pairs if not _is_agreement(item, event))
    context.disagreements = wrong
    allowed = (1 - context.thresholds.held_out_agreement) * len(valid)
    return HeldOut(
        reached=bool(valid) and len(wrong) <= allowed,
        total=len(valid),
        agreed=len(valid) - len(wrong),
        disagreed=tuple(item.call for item in wrong),
        invalid=tuple(item.call for item in context.held_out if item not in valid),
        cut_short=_describe_cutoff(answers),
    )


def _describe_cutoff(results: CallResults) -> str:
    if "(timeout" not in results.error:
        return ""
    answered = sum(event is not None for event in results.events)
    return f"out of time after {answered} of {len(results.events)} calls"


def _is_valid(example: HeldOutExample) -> bool:
    try:
        compile(example.call, "<call>", "eval")
        if example.returns is not None:
            ast.literal_eval(example.returns)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _is_agreement(example: HeldOutExample, event: dict[str, Any] | None) -> bool:
    if event is None:
        return False
    if example.raises is not None:
        raised = event.get("raised")
        return isinstance(raised, list) and example.raises.rpartition(".")[2] in raised
    if "value" not in event:
        return False
    try:
        return is_strictly_equal(
            ast.literal_eval(example.returns or ""), decode_value(event["value"])
        )
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError):
        return False


def decode_value(value: Sequence[Any]) -> Any:
    """Return the value that the guest sent as `[tag, content]`."""
    tag, content = value
    if tag in _SCALAR_DECODERS:
        return _SCALAR_DECODERS[tag](content)
    if tag == "dict":
        return {decode_value(key): decode_value(item) for key, item in content}
    if tag in _SEQUENCE_DECODERS:
        return _SEQUENCE_DECODERS[tag](decode_value(item) for item in content)
    return _UnequalValue()


_SCALAR_DECODERS: dict[str, Callable[[Any], Any]] = {
    "none": lambda content: None,
    "bool": bool,
    "int": lambda content: int(content, 16),
    "float": float.fromhex,
    "complex": lambda content: complex(*(float.fromhex(part) for part in content)),
    "str": lambda content: bytes.fromhex(content).decode("utf-8", "surrogatepass"),
    "bytes": base64.b64decode,
}
_SEQUENCE_DECODERS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


def is_strictly_equal(expected: Any, got: Any) -> bool:
    """Whether two values are equal in value and exact type at every level; floats to nine digits."""
    if type(expected) is not type(got):
        return False
    if isinstance(expected, float):
        both_nan = math.isnan(expected) and math.isnan(got)
        return both_nan or math.isclose(
            expected, got, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE
        )
    if isinstance(expected, (list, tuple)):
        return len(expected) == len(got) and all(map(is_strictly_equal, expected, got))
    if isinstance(expected, dict):
        return is_strictly_equal(expected.keys(), got.keys()) and all(
            is_strictly_equal(expected[key], got[key]) for key in expected
        )
    if isinstance(expected, (set, frozenset, KeysView)):
        theirs = {item: item for item in got}  # equal is not enough: 1 == True
        return expected == got and all(is_strictly_equal(item, theirs[item]) for item in expected)
    return bool(expected == got)
