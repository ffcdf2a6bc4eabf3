"""Builder of the inputs of a comparison, which a seed determines."""

import ast
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, zip_longest
from typing import Any

from greenloop.grading.inputs.growth import enlarge_calls, grow_calls
from greenloop.grading.inputs.known_calls import find_used_name, read_call, read_sequence
from greenloop.grading.inputs.literals import LiteralMutator, Vocabulary
from greenloop.grading.inputs.programs import Input, build_program, number_observations
from greenloop.grading.inputs.typed import ValueGenerator
from greenloop.syntax.nodes import Function, copy_tree
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.programs.rows import MADE

_MAX_CALLS, _MAX_KNOWN, _MAX_VARIANTS, _MAX_SOURCE = 2500, 150, 240, 2500
_GENERATED_PER_FUNCTION, _SWAPPED, _MAX_STATEMENTS, _COUNTED = 80, 60, 30, 200  # at most
_CALLS_PER_BODY = 3
# Annotations that leave the type of values or items open.
_OPEN_TYPES = frozenset({"Any", "object", "list", "tuple", "set", "dict", "Sequence", "Iterable"})


@dataclass(frozen=True)
class Known:
    """Sources of inputs: calls of tests and examples, texts of a generator, and tests' programs."""

    public: tuple[str, ...]
    constants: frozenset[str]  # names in both programs that may be arguments
    interface: str
    calls: Sequence[ast.Call]
    generated: Sequence[str]
    cases: Sequence[Input]
    module: str

    @property
    def texts(self) -> frozenset[str]:
        """The calls, and what the generator made, in normalized form."""
        nodes = (*self.calls, *map(parse_or_empty, self.generated))
        return frozenset(map(ast.unparse, nodes))


class InputBuilder:
    """Builder of the inputs; the seed determines every random choice.

    Half of the mutated calls derive from calls that were allowed, as in EvalPlus, and 80% if few
    calls are allowed.
    """

    def __init__(self, known: Known, vocabulary: Vocabulary, seed: str) -> None:
        self._known, self._rng = known, random.Random(seed)
        self._mutator = LiteralMutator(self._rng, vocabulary)
        self._values = ValueGenerator(self._rng, vocabulary, known.interface, self._find_others)
        self._first: list[ast.Call] = []
        self._accepted: list[ast.Call] = []
        self._accepted_share = 0.5
        nodes = parse_or_empty(known.interface).body
        functions = [node for node in nodes if isinstance(node, Function)]
        self._functions = [node for node in functions if node.name[:1] != "_"]
        self._per_function = max(1, _MAX_CALLS // max(1, len(self._functions)))
        self._callees = [ast.unparse(call.func) for call in known.calls]
        untyped = {node.name for node in self._functions if _is_untyped(node)}
        self._untyped = set[str]() if vocabulary.is_whole else untyped

    def learn(self, tried: int, allowed: Sequence[Input]) -> None:
        """Use the allowed inputs as a source of others; `tried` is the number of inputs tried."""
        self._accepted += [item.node for item in allowed if isinstance(item.node, ast.Call)]
        if len(allowed) < tried / 2:
            self._accepted_share = self._mutator.form_share = 0.8

    def build(self) -> Iterator[Input]:
        """Yield the inputs without duplicates, unchanged ones first.

        The generator's come before the tests', on which both programs have already run.
        """
        given = [*self._known.calls[:_MAX_KNOWN]]
        made = [call for text in self._known.generated if (call := self._read(text))]
        self._first = first = [*_alternate(made[:_MAX_KNOWN], given, self._generate_typed())]
        changed = chain(_exchange(given), self._swap(given + made), self._mutate(first))
        calls = chain(first, grow_calls(first), _alternate(self._count_up(), changed))
        sequences, cases = list(self._read_programs()), self._known.cases
        functions = chain(sequences, _alternate(self._change([*cases, *sequences]), cases))
        seen: set[tuple[str, str]] = set()
        inputs = map(_to_input, calls)
        # Fewer test bodies than calls, as the arguments of calls vary more.
        for item in _alternate(*[inputs] * _CALLS_PER_BODY, functions):
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
        """Yield mutated calls, some of them mutated repeatedly."""
        pool, has_floats = list(calls), any(map(_has_whole_float, calls))
        for _ in range(_MAX_CALLS if pool else 0):
            is_known = self._accepted and self._rng.random() < self._accepted_share
            call = self._rng.choice(self._accepted if is_known else pool)
            self._mutator.varies_types = ast.unparse(call.func) in self._untyped
            changed = self._mutator.mutate(call)
            if self._mutator.varies_types and not has_floats and _has_whole_float(changed):
                continue  # equal to an integer: which of two equal values code keeps is chance
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
        count = min(_GENERATED_PER_FUNCTION, self._per_function)
        for node in self._functions[:_MAX_CALLS]:
            made = (self._values.make_call(node) for _ in range(count))
            yield from filter(None, made)

    def _count_up(self) -> Iterator[ast.Call]:
        """Yield calls with each small integer, for functions that require only one integer."""
        for node in self._functions:
            required = node.args.args[: len(node.args.args) - len(node.args.defaults)]
            types = [item.annotation and ast.unparse(item.annotation) for item in required]
            if types == ["int"] and not node.args.posonlyargs and not node.args.kwonlyargs:
                for number in range(min(_COUNTED, self._per_function)):
                    yield ast.Call(ast.Name(node.name, ast.Load()), [ast.Constant(number)], [])

    def _find_others(self, function: str, at: int | None, name: str) -> list[ast.expr]:
        """Return a parameter's arguments in the known calls of a function ('' for any function)."""
        known = zip(self._callees, self._known.calls, strict=True)
        calls = [call for callee, call in known if function in ("", callee)]
        values = [item.value for call in calls for item in call.keywords if item.arg == name]
        values += [call.args[at] for call in calls if at is not None and at < len(call.args)]
        return values

    # -- functions that observe

    def _change(self, pool: list[Input]) -> Iterator[Input]:
        """Yield inputs with changed literals and calls, some of them changed repeatedly."""
        for _ in range(_MAX_VARIANTS if pool else 0):
            item = self._rng.choice(pool)
            self._mutator.varies_types = False
            changed: Any = self._mutator.mutate(item.node)
            if self._rng.random() < 0.5:
                self._change_order(changed)
            if self._calls_module(item.node) and not self._calls_module(changed):
                continue
            number_observations(changed)
            pool.append(replace(item, node=changed))
            yield pool[-1]

    def _calls_module(self, function: ast.AST) -> bool:
        """Return whether a function uses a public name, or a fixture of a test file."""
        names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        return any(item in self._known.public or item.startswith(MADE) for item in names)

    def _change_order(self, function: Any) -> None:
        """Repeat, swap, remove or mutate a call whose result is not used, or change nothing."""
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

    def _read_programs(self) -> Iterator[Input]:
        """Yield the generator's sequences of calls, and its statements, as functions."""
        public, constants = self._known.public, self._known.constants
        names = {*public, *(item.partition(".")[0] for item in constants)}
        classes = {*public} - {item.name for item in self._functions}
        for text in self._known.generated:
            if steps := read_sequence(text, public, constants):
                first, *rest = map(ast.unparse, steps)
                text = "\n".join([f"item = {first}", *(f"item.{step}" for step in rest)])
                name = ast.unparse(steps[0].func)
            else:
                name = "" if self._read(text) else find_used_name(text, public)
            if name:
                yield build_program(text, name, self._known.module, names, classes)


def _is_untyped(node: Function) -> bool:
    """Whether the type of an argument, or of its items, is not annotated."""
    annotations = [item.annotation for item in (*node.args.posonlyargs, *node.args.args)]
    return any(item is None or ast.unparse(item) in _OPEN_TYPES for item in annotations)


def _has_whole_float(tree: ast.AST) -> bool:
    """Whether a literal is a float that is equal to an integer."""
    values = (getattr(node, "value", None) for node in ast.walk(tree))
    return any(isinstance(item, float) and item.is_integer() for item in values)


def _exchange(calls: Iterable[ast.Call]) -> Iterator[ast.Call]:
    """Yield calls with two neighbours of one type exchanged, as comparisons need both orders."""
    for call in calls:
        for at, (one, other) in enumerate(pairwise(call.args)):
            if _get_type(one) is _get_type(other):
                changed = copy_tree(call)
                changed.args[at : at + 2] = changed.args[at + 1], changed.args[at]
                yield changed


def _get_type(node: ast.expr) -> type:
    return type(node.value if isinstance(node, ast.Constant) else node)


def _to_input(call: ast.Call) -> Input:
    return Input(call, ast.unparse(call.func))


def _alternate(*lists: Iterable[Any]) -> Iterator[Any]:
    return (item for item in chain.from_iterable(zip_longest(*lists)) if item is not None)
