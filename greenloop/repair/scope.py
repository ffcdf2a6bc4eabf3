"""The names in scope of a function, and how they are used."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from greenloop.syntax.nodes import (
    Function,
    get_assigned_targets,
    get_last_name,
    is_constant_statement,
)
from greenloop.syntax.operators.protocol import OPPOSITES, SIGNS

_MAX_DONORS, _MAX_DONOR_CHARS = 40, 40
_DONOR_KINDS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.Tuple)
_MAX_STATEMENTS, _MAX_STATEMENT_CHARS = 20, 80
_MAX_NODES = 120  # no accepted text has more; bounds the recursion of `ast.unparse`
_ALLOWED_BUILTINS = frozenset(
    "len min max sum abs int str list set dict sorted range tuple float ord chr".split()
)

_PROPERTIES = frozenset({"property", "cached_property"})
_TEXT_ROLES = frozenset(
    (
        *(".lower", ".upper", ".strip", ".split", ".join", ".replace", ".isdigit", ".isalpha"),
        *("argument of ord", "argument of int", "For target", "comprehension target"),
    )
)


@dataclass(frozen=True)
class NameScope:
    """The scope of a function, or of the module if `function` is None."""

    function: Function | None
    names: tuple[str, ...] = ()  # parameters and variables in the order of the text
    parameters: tuple[str, ...] = ()
    self_name: str = ""
    attributes: tuple[str, ...] = ()  # of the form `self.size`
    methods: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()  # of the module
    # By name: syntactic positions of its use.
    roles: dict[str, frozenset[str]] = field(default_factory=dict)
    donors: tuple[str, ...] = ()  # small expressions of the function as source
    conditions: tuple[str, ...] = ()  # comparisons of the function
    function_statements: tuple[str, ...] = ()  # simple ones, which use only names in scope
    module_statements: tuple[str, ...] = ()  # those of the rest of the module
    integer_variables: frozenset[str] = frozenset()

    @cached_property
    def negated_conditions(self) -> tuple[str, ...]:
        """The opposites of the comparisons of the function."""
        return tuple(item for text in self.conditions if (item := _negate_comparison(text)))

    @property
    def variables(self) -> tuple[str, ...]:
        return (*self.names, *self.attributes)

    def may_be_text(self, name: str) -> bool:
        """Return whether a variable is used as a text, or as an item of a sequence."""
        return bool(self.roles.get(name, frozenset()) & _TEXT_ROLES)

    def has_common_role(self, one: str, other: str) -> bool:
        """Return whether both are used in the same syntactic position somewhere."""
        return bool(self.roles.get(one, frozenset()) & self.roles.get(other, frozenset()))


def _negate_comparison(text: str) -> str:
    """Return the opposite of a comparison of two operands; '' for a chain of comparisons."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return ""
    left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
    return f"{left} {OPPOSITES[SIGNS[type(node.ops[0])]]} {right}"


class ModuleParts:
    """Constants, functions and statements of a module, collected once for all scopes."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        self.tree = tree
        self.constants, self.functions = _collect_module_names(tree)
        self.statements = [
            (node, {i.id for i in ast.walk(node) if isinstance(i, ast.Name)}, text)
            for node in nodes
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr))
            and not is_constant_statement(node)
            and (text := _unparse_small(node))
        ]


def _unparse_small(node: ast.AST) -> str:
    """Return the source of a node; '' for a node that is too large to be reused."""
    is_large = next(islice(ast.walk(node), _MAX_NODES, None), None)
    return "" if is_large else ast.unparse(node)


def build_scope(
    parts: ModuleParts, function: Function | None, enclosing_class: ast.ClassDef | None
) -> NameScope:
    """Build the scope of a function, which may be a method of `enclosing_class`."""
    tree, constants, functions = parts.tree, parts.constants, parts.functions
    if function is None:
        names = tuple(dict.fromkeys((*constants, *functions)))
        return NameScope(None, names, constants=constants, roles=_collect_roles(tree))
    parameters = [item.arg for item in _list_parameters(function.args)]
    decorators = [ast.unparse(item) for item in function.decorator_list]
    is_bound = enclosing_class is not None and "staticmethod" not in decorators
    own = parameters.pop(0) if is_bound and parameters else ""
    used = [item for item in _walk_in_order(function) if isinstance(item, ast.Name)]
    stored = [item.id for item in used if isinstance(item.ctx, ast.Store)]
    inner = [item.arg for item in _walk_in_order(function) if isinstance(item, ast.arg)]
    attributes, methods = _collect_class_members(enclosing_class, own)
    donors = _collect_texts(function, *_DONOR_KINDS)
    names = tuple(dict.fromkeys([*parameters, *stored, *(name for name in inner if name != own)]))
    known = {*names, *constants, *functions, own}
    return NameScope(
        function,
        names,
        tuple(parameters),
        own,
        attributes,
        methods,
        constants,
        _collect_roles(enclosing_class or function),
        tuple(item for item in donors if len(item) <= _MAX_DONOR_CHARS)[:_MAX_DONORS],
        tuple(_collect_texts(function, ast.Compare)),
        *_collect_statements(parts, function, known),
        _collect_integer_variables(enclosing_class or function),
    )


def _collect_module_names(tree: ast.Module) -> tuple[tuple[str, ...], tuple[str, ...]]:
    targets = (target for node in tree.body for target in get_assigned_targets(node))
    constants = dict.fromkeys(item.id for item in targets if isinstance(item, ast.Name))
    return tuple(constants), tuple(i.name for i in tree.body if isinstance(i, Function))


def _list_parameters(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args]
    found += [arguments.vararg] if arguments.vararg else []
    return [*found, *arguments.kwonlyargs, *([arguments.kwarg] if arguments.kwarg else [])]


def _walk_in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes below a node, in the order of the text."""
    left = [node]
    while left:
        found = left.pop()
        left += reversed([*ast.iter_child_nodes(found)])
        if found is not node:
            yield found


def _collect_class_members(
    class_node: ast.ClassDef | None, self_name: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return attributes (`self.size`; also properties and declared fields) and method names."""
    if class_node is None:
        return (), ()
    functions = [item for item in class_node.body if isinstance(item, Function)]
    properties = [item.name for item in functions if _is_property(item)]
    methods = [item.name for item in functions if item.name not in properties]
    used = [
        node.attr
        for node in _walk_in_order(class_node)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == self_name
        and node.attr not in methods
    ]
    fields = [
        get_last_name(item.target) for item in class_node.body if isinstance(item, ast.AnnAssign)
    ]
    names = dict.fromkeys((*used, *fields, *properties))
    return tuple(f"{self_name}.{name}" for name in names if self_name), tuple(methods)


def _is_property(function: Function) -> bool:
    return any(get_last_name(item) in _PROPERTIES for item in function.decorator_list)


def _collect_roles(tree: ast.AST) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, (ast.Name, ast.Attribute)):
                    text = ast.unparse(child)
                    found.setdefault(text, set()).update(_classify_roles(parent, name))
    return {name: frozenset(roles) for name, roles in found.items()}


def _classify_roles(parent: ast.AST, name: str) -> Iterator[str]:
    if isinstance(parent, ast.Attribute):
        yield f".{parent.attr}"
    elif isinstance(parent, (ast.BinOp, ast.Compare)):
        yield "operand"
    elif isinstance(parent, ast.Subscript):
        yield f"subscript {name}"
    elif isinstance(parent, ast.Call):
        called = parent.func
        yield "called" if name == "func" else f"argument of {ast.unparse(called)[:30]}"
    else:
        yield f"{type(parent).__name__} {name}"


def _collect_texts(function: Function, *kinds: type[ast.expr]) -> list[str]:
    """Return the expressions of these kinds that are read, each once, in the order of the text."""
    found = (
        _unparse_small(node)
        for node in _walk_in_order(function)
        if isinstance(node, kinds) and not isinstance(getattr(node, "ctx", None), ast.Store)
    )
    return list(filter(None, dict.fromkeys(found)))


def _collect_statements(
    parts: ModuleParts, function: Function, known: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return statements of the function, and of the rest of the module, that use known names."""
    own = set(ast.walk(function))
    found: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for node, used, text in parts.statements:
        side = found[node not in own]
        if (
            len(text) <= _MAX_STATEMENT_CHARS
            and used - known <= _ALLOWED_BUILTINS
            and len(side) < _MAX_STATEMENTS
        ):
            side[text] = None
    return tuple(found[0]), tuple(found[1])


def _collect_integer_variables(tree: ast.AST) -> frozenset[str]:
    return frozenset(
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) is int
        for target in node.targets
    )
