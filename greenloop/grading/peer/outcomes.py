"""Outcome of one input: whether both programs give the same answers, and where they differ."""

import ast
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import indent
from typing import Any

from greenloop.grading.inputs.programs import Input, find_observation
from greenloop.grading.inputs.runs import Answer
from greenloop.grading.peer.answers import compare, is_refused, name_kind, read_pairs
from greenloop.grading.peer.features import describe_arguments
from greenloop.grading.peer.names import Names
from greenloop.grading.peer.records import FoundDifference
from greenloop.grading.peer.rendering import (
    describe,
    describe_exception,
    observes_exception,
    read_items,
    render_statements,
    to_literal,
)
from greenloop.sandbox.guest.observation.inputs.calls import AFTER, ANSWER, ENDING, PRINTED
from greenloop.sandbox.work.observations import load
from greenloop.syntax.nodes import copy_tree
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.used_definitions import show_with_definitions

_Answers = tuple[dict[str, Any], dict[str, Any]]
_ITEMS, _ORDER = "list({}.items())", ("order",)
_ENDS, _MAX_CALL = "ends the process", 2500  # the limit of built inputs, too


@dataclass(frozen=True)
class Outcome:
    """Answers of both programs to one input, and where they differ."""

    item: Input
    code: Answer
    peer: Answer
    agrees: bool | None = None  # None if nothing could be compared
    at: int = ANSWER  # the number of the observation that differs
    kinds: tuple[str, ...] = ()  # of both answers at `at`
    answers: tuple[dict[str, Any], ...] = ()  # both answers at `at`
    form: str = "{}"  # turns the last expression into one with the shown answers: `list({})`

    @property
    def is_slower(self) -> bool:
        """Whether the code exceeds its time limit, and takes over ten times as long as the peer.

        A peer that raises an exception at once is no measure.
        """
        limit = self.code.cpu_s / 10
        has_answered = self.peer.is_allowed and "error" not in self.peer.load(ANSWER)
        return self.code.is_late and has_answered and self.peer.cpu_s < limit

    @property
    def call(self) -> str:
        """The call as an expression, or statements whose last one is compared."""
        if self.item.is_call:
            return self.form.format(ast.unparse(self.item.node))[:_MAX_CALL]
        before, line, last = render_statements(self.item.node, self.at).rpartition("\n")
        return f"{before}{line}{self.form.format(last)}"[:_MAX_CALL]

    @property
    def cluster(self) -> tuple[str, ...]:
        """A key that differences with one cause nearly always share."""
        return self.item.name if self.item.is_call else _name_last_call(self.call), *self.kinds

    @cached_property
    def group(self) -> tuple[str, ...]:
        """The cluster and the kinds of the arguments, which a smaller variant keeps."""
        features = describe_arguments(self.item.node) if self.item.is_call else ()
        return *self.cluster, *features

    def to_record(self) -> FoundDifference:
        return replace(self._describe(), cluster=self.cluster, helpers=self._find_helpers())

    def _find_helpers(self) -> str:
        whole = f"{self.item.preamble}\ndef call__():\n{indent(self.call, ' ')}"
        return show_with_definitions(whole, "call__").partition("def call__")[0]

    def _describe(self) -> FoundDifference:
        if self.kinds[:1] == (_ENDS,):
            answer = self.peer.load(self.at)
            return FoundDifference(self.call, _ENDS, describe(answer), to_literal(answer))
        if self.item.is_call and self.at == AFTER:
            with suppress(LookupError, TypeError, ValueError):  # untrusted code wrote it
                return _describe_arguments(self)
            return FoundDifference(self.call, "changes its arguments", "leaves them otherwise")
        one, other = self.answers
        if observes_exception(self.item.node, self.at):
            return FoundDifference(self.call, describe_exception(one), describe_exception(other))
        if self.item.is_call and self.at == PRINTED:
            printed = [f"prints {describe(item)}" for item in (one, other)]
            return FoundDifference(self.call, printed[0], printed[1])
        return FoundDifference(self.call, describe(one), describe(other), to_literal(other))


def _describe_arguments(outcome: Outcome) -> FoundDifference:
    """Return the difference as statements that end in the arguments that differ after the call."""
    call: Any = copy_tree(outcome.item.node)
    places = [*enumerate(call.args), *((item.arg, item.value) for item in call.keywords)]
    mine = _list_values(outcome.code.load_arguments(outcome.peer))
    others = _list_values(outcome.peer.load_arguments(outcome.code))
    lines, one, other = [], [], []
    for (place, node), before, after in zip(places, mine, others, strict=True):
        if before != after:
            name = f"argument_{place + 1}" if isinstance(place, int) else place
            lines.append(f"{name} = {ast.unparse(node)}")
            one.append(before)
            other.append(after)
            _replace(call, place, ast.Name(name, ast.Load()))
    names = [line.partition(" ")[0] for line in lines]
    text = "\n".join([*lines, ast.unparse(call), ", ".join(names)])
    values = [item[0] if len(item) == 1 else ["tuple", *item] for item in (one, other)]
    answer = {"value": values[1]}
    return FoundDifference(
        text[:_MAX_CALL],
        describe({"value": values[0]}),
        describe(answer),
        to_literal(answer),
        callee=ast.unparse(call.func),
    )


def _list_values(arguments: dict[str, Any]) -> list[Any]:
    """Return the encoded arguments of a call, those by name last."""
    _, given, named = arguments["value"]
    return [*given[1:], *(pair[2] for pair in named[1:])]


def _replace(call: ast.Call, place: int | str, node: ast.expr) -> None:
    if isinstance(place, int):
        call.args[place] = node
    for item in call.keywords:
        if item.arg == place:
            item.value = node


def judge(item: Input, code: Answer, peer: Answer, names: Names) -> Outcome:
    """Compare the answers of two programs to an input."""
    if not peer.is_allowed or peer.is_late or code.is_late:
        return Outcome(item, code, peer)
    if code.ending:
        is_crash = "(crashed" in code.ending
        return Outcome(item, code, peer, False if is_crash else None, kinds=(_ENDS,))
    if item.is_call:
        return _judge_call(item, code, peer, names)
    return _judge_function(item, code, peer, names)


def _judge_call(item: Input, code: Answer, peer: Answer, names: Names) -> Outcome:
    both = code.load(ANSWER), peer.load(ANSWER)
    agrees = compare(*both, names)
    if agrees is False:
        form, both = _read_form(item, both, names)
        kinds = name_kind(both[0]), name_kind(both[1])
        return Outcome(item, code, peer, False, ANSWER, kinds, both, form)
    if agrees and (pairs := _find_other_order(both, names)):
        form = _ITEMS.format(_read_form(item, both, names)[0])
        return Outcome(item, code, peer, False, ANSWER, _ORDER, pairs, form)
    # A peer may change its arguments carelessly; if it returns nothing, they are its answer.
    matters = code.changes_arguments or (peer.changes_arguments and both[1].get("value", 0) is None)
    if agrees and matters:
        after = code.load_arguments(peer), peer.load_arguments(code)
        if compare(*after, names) is False:
            return Outcome(item, code, peer, False, AFTER, ("arguments",))
    printed = _read_printed(code), _read_printed(peer)
    if agrees and printed[0] != printed[1] and "value" in both[0]:
        one, other = map(load, printed)
        return Outcome(item, code, peer, False, PRINTED, ("printed",), (one, other))
    return Outcome(item, code, peer, agrees)


def _find_other_order(both: _Answers, names: Names) -> _Answers | None:
    """Return the items of two equal dicts whose order differs, if the text speaks of an order."""
    pairs = read_pairs(both[0]), read_pairs(both[1])
    return pairs if names.has_order and compare(*pairs, names) is False else None


def _read_form(item: Input, both: _Answers, names: Names) -> tuple[str, _Answers]:
    """Return a form for the call that gives the observed answers, and both answers.

    Observed are the results of coroutines and the items of iterators, not the returned objects.
    """
    if item.name in names.coroutines:
        return "asyncio.run({})", both
    one, other = map(read_items, both)
    is_list = one is not None and other is not None and (one is not both[0] or other is not both[1])
    return ("list({})", (one, other)) if is_list else ("{}", both)  # type: ignore[return-value]


def _read_printed(answer: Answer) -> str:
    """Return the output of `main`, or of a call that returns nothing, as an observation."""
    return next((text for number, text in answer.observed if number == PRINTED), '{"value":""}')


def _judge_function(item: Input, code: Answer, peer: Answer, names: Names) -> Outcome:
    """Compare the observations in order; the first that differs decides."""
    is_known = False
    for (number, one), (other_number, other) in zip(code.observed, peer.observed, strict=False):
        both = load(one), load(other)
        is_pair = number == other_number or ENDING in (number, other_number)
        agrees = compare(*both, names) if is_pair else None
        if agrees is False:
            kinds, at = (name_kind(both[0]), name_kind(both[1])), min(number, other_number)
            return Outcome(item, code, peer, False, at, kinds, both)
        if agrees and (pairs := _find_other_order(both, names)) and _is_shown(item, number):
            return Outcome(item, code, peer, False, number, _ORDER, pairs, _ITEMS)
        if number != other_number or ("error" in both[0]) != ("error" in both[1]):
            break
        if any(map(is_refused, both)):  # what an object does after such a call is open
            break
        is_known = is_known or bool(agrees)
    return Outcome(item, code, peer, True if is_known else None)


def _is_shown(item: Input, number: int) -> bool:
    """Whether the last statement up to an observation is the observed expression alone."""
    last = render_statements(item.node, number).rpartition("\n")[2]
    match find_observation(item.node, number):
        case ast.Call(args=[_, ast.Lambda(body=value) | value]):
            return last == ast.unparse(value)
    return False


def _name_last_call(statements: str) -> str:
    body = parse_or_empty(statements).body
    calls = [node for last in body[-1:] for node in ast.walk(last) if isinstance(node, ast.Call)]
    return ast.unparse(calls[0].func).rpartition(".")[2] if calls else ""
