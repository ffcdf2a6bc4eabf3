"""Reader of EvalPlus (HumanEval+, MBPP+): inputs, and a reference solution that computes answers.

The solution is untrusted code, so it runs in the sandbox: the hidden test file lets it compute its
answers before the code under test is called.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field

from greenloop.errors import InputError
from greenloop.evals.datasets.humaneval import build_completion_spec, check_entry_point
from greenloop.evals.task import DEFAULT_MODULE, EvalTask, ExternalRecord

Arguments = list[Any]


def restore_types(task_id: str, inputs: list[Arguments]) -> list[Any]:
    """Return the inputs of a task with the types that JSON lacks, such as tuples and sets.

    Raises TypeError, ValueError, LookupError or AttributeError: they are not those of this task.
    """
    family, _, number = task_id.rpartition("/")
    if family != "Mbpp" or not number.isdecimal():
        return inputs
    convert = _converters_by_task().get(int(number))
    return [convert(item) for item in inputs] if convert else inputs


def _converters_by_task() -> dict[int, Callable[[Arguments], Any]]:
    """Return the conversion of a task's argument list, by the task's number."""
    table: list[tuple[Callable[[Arguments], Any], str]] = [
        (
            lambda args: [tuple(item) for item in args],
            "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 726 740 744 809",
        ),
        (
            lambda args: [list(map(tuple, item)) for item in args],
            "63 64 70 94 120 237 272 299 400 409 417 438 473 614 780",
        ),
        (lambda args: [list(map(tuple, args[0])), *args[1:]], "75 413 444 753"),
        (lambda args: [args[0], tuple(args[1])], "106 750"),
        (lambda args: [tuple(args[0]), *args[1:]], "250 307 405 446 617 720 763 808"),
        (lambda args: [tuple(map(tuple, item)) for item in args], "259 401 445"),
        (lambda args: [tuple(tuple(i) if isinstance(i, list) else i for i in args[0])], "278"),
        (_to_nested_tuples, "580 615 791"),
        (lambda args: [[_set_or_dict(part) for part in args[0]]], "115"),
        (lambda args: [float(args[0]), complex(args[1])], "124"),
        (lambda args: [complex(args[0])], "252"),
        (lambda args: [{k: tuple(v) for k, v in args[0].items()}, *args[1:]], "722"),
    ]
    return {int(number): convert for convert, numbers in table for number in numbers.split()}


def _to_nested_tuples(value: Any) -> Any:
    return tuple(map(_to_nested_tuples, value)) if isinstance(value, list) else value


def _set_or_dict(value: Any) -> Any:
    """Return a set for a list with items, an empty dict for an empty list or any other value."""
    return set(value) if isinstance(value, list) and value else {}


_QUOTES = " \n'\""  # around the text of an MBPP+ prompt
_HARNESS = Path(__file__).with_name("evalplus_harness.py.txt")
# Functions for which EvalPlus accepts several answers in MBPP+, with the rule of the harness.
_MBPP_RULES = {
    **dict.fromkeys(
        (
            "similar_elements find_char_long common_in_nested_lists extract_singly larg_nnum "
            "intersection_array find_dissimilar Diff"
        ).split(),
        "as sets",
    ),
    **dict.fromkeys(("check_str", "text_match_three", "text_starta_endb"), "none or not"),
    "are_equivalent": "any",
    "sum_div": "or zero",
    "surface_Area": "or by its height",
    "digit_distance_nums": "or filled with zeros",
}
_HUMANEVAL_RULES = {"find_zero": "root of polynomial"}


class EvalPlusLine(ExternalRecord):
    """One line. Keys such as `contract` are not read: all inputs are valid."""

    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str = Field(min_length=1)
    base_input: list[list[Any]]
    plus_input: list[list[Any]] | dict[str, Any] = Field(default_factory=list)
    atol: float = 0.0


def parse_evalplus_task(line: EvalPlusLine, where: str) -> EvalTask:
    """Build the task. Raises InputError where entry point or inputs do not have their form."""
    what = f"{where} (id {line.task_id})"
    check_entry_point(line.entry_point, what)
    solution = line.prompt + line.canonical_solution
    plus = line.plus_input if isinstance(line.plus_input, list) else []
    try:
        base_text, plus_text = (
            repr(restore_types(line.task_id, i)) for i in (line.base_input, plus)
        )
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise InputError(f"{what}: its inputs do not have the form of MBPP+: {error}") from None
    is_mbpp = line.task_id.startswith("Mbpp")
    rules = _MBPP_RULES if is_mbpp else _HUMANEVAL_RULES
    values = {
        "MODULE": DEFAULT_MODULE,
        "ENTRY_POINT": line.entry_point,
        "SOLUTION_TEXT": repr(solution),
        "BASE_TEXT": repr(base_text),
        "PLUS_TEXT": repr(plus_text),
        "ATOL": repr(line.atol),
        "RULE": repr(rules.get(line.entry_point, "")),
    }
    code = _HARNESS.read_text("utf-8")
    for name, value in values.items():
        code = code.replace(f"<<{name}>>", value)
    if not plus:
        code = code.partition("\n\n\ndef test_plus")[0] + "\n"
    spec = _build_spec(line)
    return EvalTask.with_test_file(code, id=line.task_id, spec=spec, solution=solution, where=where)


def _build_spec(line: EvalPlusLine) -> str:
    """Return the specification; MBPP+ prompts are text, HumanEval+ prompts begin a file."""
    if f"def {line.entry_point}" in line.prompt:
        return build_completion_spec(line.prompt, line.entry_point)
    parameters = len(line.base_input[0]) if line.base_input else 0
    return (
        f"{line.prompt.strip(_QUOTES)}\n\nThe module must have the function "
        f"`{line.entry_point}` with {parameters} parameter{'s' * (parameters != 1)}.\n"
    )
