"""The list of inputs of a comparison, fixed by a seed."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any

from greenloop.grading.peer.growth import enlarge_calls, grow_calls
from greenloop.grading.peer.runs import Input
from greenloop.grading.peer.seeds import list_module_names, read_call, read_sequence
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.variants.annotations import ValueGenerator
from greenloop.testsuite.variants.literals import LiteralMutator, Vocabulary
from greenloop.testsuite.variants.programs import number_observations
from greenloop.testsuite.variants.trees import copy_tree, has_whole_float

_MAX_CALLS, _MAX_KNOWN, _MAX_VARIANTS, _MAX_SOURCE = 2500, 150, 240, 2500
_GENERATED_PER_FUNCTION, _SWAPPED, _MAX_STATEMENTS = 80, 60, 30
_COUNTED = range(200)
# Annotations that leave open of which type values or items are.
_OPEN_TYPES = frozenset({"Any", "object", "list", "tuple", "set", "dict", "Sequence", "Iterable"})


@dataclass(frozen=True)
class Known:
    """What inputs are made of: calls of tests and examples, those of the generator, and tests."""

    public: tuple[str, ...]
    constants: frozenset[str]  # names that both programs have, and that may stand for arguments
    interface: str
    calls: Sequence[ast.Call]
    generated: Sequence[str]
    cases: Sequence[Input]
    module: str


class InputBuilder:
    """Builds the list; everything by chance comes from the seed.

    Half of the changed calls come from calls that were allowed, as in EvalPlus; nearly all of them
    where few are allowed.
    """

    def __init__(self, known: Known, vocabulary: Vocabulary, seed: str) -> None:
        self._known, self._rng = known, random.Random(seed)
        self._mutator = LiteralMutator(self._rng, vocabulary)
        self._values = ValueGenerator(self._rng, vocabulary)
        self._first: list[ast.Call] = []
        self._accepted: list[ast.Call] = []
        self._accepted_share = 0.5
        definitions = () if vocabulary.is_whole else self._iterate_definitions()
        self._untyped = {item.name for item in definitions if _is_untyped(item)}

    def learn(self, tried: int, allowed: Sequence[Input]) -> None:
        """Take the allowed ones of the inputs that were tried as a source of others."""
        self._accepted += [item.node for item in allowed if isinstance(item.node, ast.Call)]
        if len(allowed) < tried / 2:
            self._accepted_share = self._mutator.texts.form_share = 0.8

    def build(self) -> Iterator[Input]:
        """Yield the inputs without repetition, those that are as they were written first.

        The generator's stand in front of the tests', on which both programs were seen already.
        """
        given = [*self._known.calls[:_MAX_KNOWN]]
        made = [call for text in self._known.generated if (call := self._read(text))]
        self._first = first = [*_alternate(made[:_MAX_KNOWN], given, self._generate_typed())]
        changed = chain(self._swap(given + made), self._mutate(first))
        calls = chain(first, grow_calls(first), _alternate(self._count_up(), changed))
        sequences = list(self._read_sequences())
        functions = chain(sequences, self._iterate_functions(sequences))
        seen: set[tuple[str, str]] = set()
        for item in _alternate(map(_to_input, calls), functions):
            key = item.preamble, item.text
            if len(key[1]) <= _MAX_SOURCE and key not in seen:
                seen.add(key)
                yield item

    def enlarge(self) -> list[Input]:
        """Return calls with integers so large that they may end a process."""
        return [*map(_to_input, enlarge_calls(self._first))]

    def _read(self, text: str) -> ast.Call | None:
        return read_call(text, self._known.public, self._known.constants)

    # -- calls

    def _mutate(self, calls: Sequence[ast.Call]) -> Iterator[ast.Call]:
        """Yield changed calls, now and then changes of changed ones."""
        pool, has_floats = list(calls), any(map(has_whole_float, calls))
        for _ in range(_MAX_CALLS if pool else 0):
            is_known = self._accepted and self._rng.random() < self._accepted_share
            call = self._rng.choice(self._accepted if is_known else pool)
            self._mutator.varies_types = ast.unparse(call.func) in self._untyped
            changed = self._mutator.mutate(call)
            if self._mutator.varies_types and not has_floats and has_whole_float(changed):
                continue  # equal to an integer: which of two equal values is kept is chance
            yield changed
            if len(pool) < _MAX_CALLS and self._rng.random() < 0.3:
                pool.append(changed)

    def _swap(self, calls: Sequence[ast.Call]) -> Iterator[ast.Call]:
        """Yield calls with an argument of another call of the same function."""
        for _ in range(_SWAPPED if len(calls) > 1 else 0):
            one, other = self._rng.choice(calls), self._rng.choice(calls)
            shared = min(len(one.args), len(other.args))
            if shared > 1 and ast.unparse(one.func) == ast.unparse(other.func):
                at, changed = self._rng.randrange(shared), copy_tree(one)
                changed.args[at] = copy_tree(other.args[at])
                yield changed

    def _generate_typed(self) -> Iterator[ast.Call]:
        """Yield calls with values of the types that the interface names."""
        for node in self._iterate_definitions():
            for _ in range(_GENERATED_PER_FUNCTION):
                if call := self._generate_call(node):
                    yield call

    def _count_up(self) -> Iterator[ast.Call]:
        """Yield calls with each small integer, of functions that need one integer alone."""
        for node in self._iterate_definitions():
            required = node.args.args[: len(node.args.args) - len(node.args.defaults)]
            types = [item.annotation and ast.unparse(item.annotation) for item in required]
            if types == ["int"] and not node.args.posonlyargs and not node.args.kwonlyargs:
                for number in _COUNTED:
                    yield ast.Call(ast.Name(node.name, ast.Load()), [ast.Constant(number)], [])

    def _iterate_definitions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        tree = parse_or_none(self._known.interface)
        for node in tree.body if tree else []:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name[:1] != "_":
                yield node

    def _generate_call(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Call | None:
        positional = [*node.args.posonlyargs, *node.args.args]
        defaults = [*[None] * (len(positional) - len(node.args.defaults)), *node.args.defaults]
        if node.args.defaults and self._rng.random() < 0.3:
            positional = positional[: -len(node.args.defaults)]
        called = {ast.unparse(item.func) for item in ast.walk(node) if isinstance(item, ast.Call)}
        for item in (*positional, *node.args.kwonlyargs):
            if item.annotation is None and item.arg in called:
                item.annotation = ast.Name("Callable", ast.Load())
        given = [
            self._make_argument(node.name, at, *pair)
            for at, pair in enumerate(zip(positional, defaults, strict=False))
        ]
        pairs = [
            (item.arg, self._make_argument(node.name, None, item, default))
            for item, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if default is None or self._rng.random() < 0.5
        ]
        known = [item for item in given if item is not None]
        named = [ast.keyword(name, value) for name, value in pairs if value is not None]
        if len(known) < len(given) or len(named) < len(pairs):
            return None
        return ast.Call(ast.Name(node.name, ast.Load()), known, named)

    def _make_argument(
        self, function: str, at: int | None, parameter: ast.arg, default: ast.expr | None
    ) -> ast.expr | None:
        """Return a value by the annotation, else like that of another call, or like the default."""
        made = self._values.generate(parameter.annotation)
        if made is not None:
            return made
        calls = [call for call in self._known.calls if ast.unparse(call.func) == function]
        values = [
            item.value for call in calls for item in call.keywords if item.arg == parameter.arg
        ]
        values += [call.args[at] for call in calls if at is not None and at < len(call.args)]
        values += [default] if default is not None else []
        if at is not None and [ast.unparse(item) for item in values] == ["None"]:
            return self._values.generate(ast.Name("int"))  # of a size, a depth, a limit
        if not values:  # of another function: the types of a module are often the same
            values = [item for call in self._known.calls for item in call.args[:1]]
        return self._mutator.change(self._rng.choice(values)) if values else None

    # -- functions that observe

    def _iterate_functions(self, sequences: Sequence[Input]) -> Iterator[Input]:
        """Yield the tests' bodies in turn with changed forms of these and of the sequences."""
        cases = self._known.cases
        yield from _alternate(self._change([*cases, *sequences]), cases)

    def _change(self, pool: list[Input]) -> Iterator[Input]:
        """Yield inputs with changed literals and calls, now and then changes of changed ones."""
        for _ in range(_MAX_VARIANTS if pool else 0):
            item = self._rng.choice(pool)
            self._mutator.varies_types = False
            changed = self._mutator.mutate(item.node)
            self._change_order(changed)
            number_observations(changed)
            pool.append(replace(item, node=changed))
            yield pool[-1]

    def _change_order(self, function: Any) -> None:
        """Repeat, move or leave out one of the calls that no later statement reads, or none."""
        body = function.body
        places = [at for at, item in enumerate(body) if isinstance(item, ast.Expr)]
        if not places or len(body) > _MAX_STATEMENTS:
            return
        at, other = self._rng.choice(places), self._rng.choice(places)
        match self._rng.randrange(5):
            case 0:
                body.insert(other, copy_tree(body[at]))
            case 1:
                body[at], body[other] = body[other], body[at]
            case 2 if len(places) > 1:
                del body[at]
            case 3:
                body.insert(other, self._mutator.mutate(body[at]))

    def _read_sequences(self) -> Iterator[Input]:
        """Yield the sequences of calls that the generator made, as functions."""
        for text in self._known.generated:
            if steps := read_sequence(text, self._known.public, self._known.constants):
                names = ", ".join(list_module_names(steps, self._known.constants))
                preamble = f"from {self._known.module} import {names}"
                yield Input(_build_sequence(steps), ast.unparse(steps[0].func), preamble)


def _build_sequence(steps: Sequence[ast.Call]) -> ast.stmt:
    first, *rest = map(ast.unparse, steps)
    lines = [f"    item = attempt__(1, lambda: {first})"]
    lines += [f"    attempt__({at}, lambda: item.{step})" for at, step in enumerate(rest, 2)]
    return ast.parse("def program():\n" + "\n".join(lines)).body[0]


def _is_untyped(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the type of an argument, or of what it holds, is not annotated."""
    annotations = [item.annotation for item in (*node.args.posonlyargs, *node.args.args)]
    return any(item is None or ast.unparse(item) in _OPEN_TYPES for item in annotations)


def _to_input(call: ast.Call) -> Input:
    return Input(call, ast.unparse(call.func))


def _alternate(*lists: Iterable[Any]) -> Iterator[Any]:
    return (item for item in chain.from_iterable(zip_longest(*lists)) if item is not None)
