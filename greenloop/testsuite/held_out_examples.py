"""Held-out examples as tests, which are as strict as the comparison that the code failed."""

import ast
import builtins
import re
from collections.abc import Collection, Sequence
from textwrap import indent

from greenloop.records import HeldOutExample, has_enough_examples
from greenloop.records.contract import MIN_HELD_OUT
from greenloop.syntax.names import free_names
from greenloop.syntax.nodes import Function, bound_names
from greenloop.syntax.parse import cache_by_source, parse_or_empty
from greenloop.syntax.values import (
    approximate_floats,
    find_value_imports,
    is_plain_value,
    name_classes_alike,
)
from greenloop.testsuite.parser import iter_tests
from greenloop.testsuite.programs.rows import RUNNER_FIXTURES
from greenloop.testsuite.used_definitions import show_with_definitions

# Equality is not enough: `[1] == [True]`. Set members and keys are sorted by hash, which is equal
# for equal values.
_KINDS_SOURCE = (
    "def kinds(value):",
    "    name = type(value).__name__",
    "    if isinstance(value, dict):",
    "        return name, [(kinds(k), kinds(value[k])) for k in sorted(value, key=hash)]",
    "    if isinstance(value, (list, tuple)):",
    "        return name, [kinds(item) for item in value]",
    "    if isinstance(value, (set, frozenset)):",
    "        return name, [kinds(item) for item in sorted(value, key=hash)]",
    "    return name",
)


@cache_by_source
def is_usable(example: HeldOutExample, known: frozenset[str] = frozenset()) -> bool:
    """Return whether a call ends in an expression, and its expected result is a plain value.

    If the names of the module are `known`, a call with others, such as test helpers, is not usable.
    """
    try:
        tree = ast.parse(example.call.strip())
        compile(tree, "<call>", "exec")
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return False
    own = bound_names(ast.walk(tree)) | set(dir(builtins)) | known
    if known and set(free_names(tree)) - own - {*_list_given_names(example.call)}:
        return False
    return example.returns is None or is_plain_value(example.returns)


def find_fixtures(source: str) -> tuple[str, ...]:
    """Return the fixtures that statements use as names."""
    nodes = ast.walk(parse_or_empty(source.strip()))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return tuple(name for name in RUNNER_FIXTURES if name in used)


def _list_given_names(call: str) -> tuple[str, ...]:
    """Return the names in a call that the rendered test provides: types of values and fixtures."""
    return *find_value_imports(call), *find_fixtures(call)


def has_enough_usable_examples(
    examples: Sequence[HeldOutExample], known: frozenset[str] = frozenset()
) -> bool:
    """Return whether enough of the examples can be used."""
    return has_enough_examples([item for item in examples if is_usable(item, known)])


def may_have_examples(test_sources: Sequence[str]) -> bool:
    """Return whether enough tests use no fixture or inner function, so that examples can exist."""
    tests = [(c, test) for c in test_sources for test, _ in iter_tests(parse_or_empty(c).body)]
    plain = (not (_list_fixtures(test) or _makes_functions(test, code)) for code, test in tests)
    return sum(plain) >= min(MIN_HELD_OUT, len(tests))


def _makes_functions(test: Function, code: str) -> bool:
    """Return whether a test, or a function of its file that it uses, defines inner functions."""
    tree = parse_or_empty(show_with_definitions(code, test.name))
    inner = (item for node in tree.body for item in ast.walk(node) if item is not node)
    return any(isinstance(item, Function) for item in inner)


def _list_fixtures(test: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the parameters of a test that no `parametrize` names."""
    marks = [mark for mark in test.decorator_list if isinstance(mark, ast.Call)]
    named = [item for mark in marks for item in mark.args[:1]]
    named += [item.value for mark in marks for item in mark.keywords if item.arg == "argnames"]
    names = (ast.unparse(item) for item in named)
    given = {"self", *re.findall(r"\w+", " ".join(names))}
    return {item.arg for item in test.args.args} - given


def render_held_out_test(
    module: str, name: str, example: HeldOutExample, about: str = "", public: Collection[str] = ()
) -> str:
    """Return the source of a test for an example, whose call uses the module's names.

    The call may be statements that end in an expression. `about` replaces the docstring. Names of
    builtins or types of values are those of the standard library unless they are `public`.
    """
    source, returns = name_classes_alike(example.call, example.returns or "None")
    imports, (*steps, call) = _render_call(module, source, public)
    if example.raises is not None:
        kind = example.raises.rpartition(".")[2]
        body = [
            "import pytest",
            *imports,
            *steps,
            f"with pytest.raises(BaseException) as caught:\n    {call}",
            f"assert {kind!r} in [kind.__name__ for kind in caught.type.__mro__]",
        ]
    else:
        lines = [*imports, *find_value_imports(returns).values()]
        body = [*dict.fromkeys(lines), *steps, f"got = {call}", *_render_comparison(returns)]
    about = about or f"{example.requirement or 'Held out'}: a held-out example."
    head = f'def {name}({", ".join(find_fixtures(example.call))}):\n    """{about}"""\n'
    return head + indent("\n".join(body), "    ") + "\n"


def _render_call(module: str, call: str, public: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the imports of a call, and its statements, the last of which is an expression."""
    tree = _Unqualified(module, public).visit(ast.parse(call.strip()))
    values = {key: line for key, line in find_value_imports(call).items() if key not in public}
    nodes = list(ast.walk(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name)} - bound_names(nodes)
    others = {*dir(builtins), *_list_given_names(call)}
    own = sorted((used - others) | used.intersection(public))
    imports = [*values.values(), *([f"from {module} import {', '.join(own)}"] if own else [])]
    return imports, [ast.unparse(item) for item in tree.body]


class _Unqualified(ast.NodeTransformer):
    """Transformer of `prices.gross` and `shop.prices.gross` to `gross` (module `shop.prices`)."""

    def __init__(self, module: str, public: Collection[str]) -> None:
        self._names = {module, module.rpartition(".")[2]}.difference(public)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        own = ast.unparse(node.value) in self._names
        return ast.copy_location(ast.Name(node.attr, node.ctx), node) if own else node


def _render_comparison(returns: str) -> list[str]:
    """Return the lines that compare `got`, without those that the expected value makes useless."""
    exact = ast.unparse(ast.parse(returns.strip(), mode="eval"))
    expected = approximate_floats(returns)
    imports = ["import pytest"] if "pytest.approx" in expected else []
    kind = _name_type(returns)
    if kind == "NoneType":
        return ["assert got is None"]
    compared = [*imports, f"assert type(got) is {kind} and got == {expected}"]
    if kind not in ("list", "tuple", "set", "dict") or not _has_alike(returns):
        return compared
    return [*compared, *_KINDS_SOURCE, f"assert kinds(got) == kinds({exact})"]


def _name_type(value: str) -> str:
    node = ast.parse(value.strip(), mode="eval").body
    return ast.unparse(node.func) if isinstance(node, ast.Call) else type(_evaluate(node)).__name__


def _evaluate(node: ast.expr) -> object:
    """Return the value of a literal; for a container, which may hold calls, an empty one."""
    kinds = {ast.List: list, ast.Tuple: tuple, ast.Set: set, ast.Dict: dict}
    kind = kinds.get(type(node))
    return kind() if kind else ast.literal_eval(node)


def _has_alike(value: str) -> bool:
    """Return whether parts of a value may equal values of other types, as numbers and sets do."""
    nodes = ast.walk(ast.parse(value.strip(), mode="eval"))
    return any(
        isinstance(node, (ast.Set, ast.Call))
        or (isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, complex)))
        for node in nodes
    )
