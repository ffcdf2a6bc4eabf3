"""Names and constants in code, and the names that a change removes from code or redefines."""

import ast
import builtins
import re
import sys
from collections.abc import Collection, Iterator, Mapping

from greenloop.syntax.nodes import Definition, Function
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import iter_own_nodes

_OPERATORS = {"Mult": "mul", "Div": "truediv", "BitOr": "or", "BitAnd": "and", "BitXor": "xor"}
_MIN_RECOGNIZED = 4  # characters of a text that counts as a name

_OPTION = re.compile(r"'--?[a-z][\w-]*'")


def find_removed_names(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return the names that the code had and that no file has now.

    They are functions, classes, constants, attributes, arguments (`name=`), modules, and texts
    that the code compared with or looked up.
    """
    changed, others = (
        {p: t for p, t in after.items() if (p in before) is x} for x in (True, False)
    )
    gone = _list_definitions(before) - _list_definitions(changed)
    texts = _list_recognized(before) - _list_literals(changed)
    named = re.compile("|".join(re.escape(i.strip("'=")) for i in (*gone, *texts)) or "$^")
    others = {path: text for path, text in others.items() if named.search(text)}
    modules = _list_modules(set(before) - set(after)) - _list_modules(after)
    return frozenset(gone - _list_definitions(others) | (texts - _list_literals(others)) | modules)


def _list_modules(paths: Collection[str]) -> set[str]:
    """Return the names of modules, and their dotted names as string literals."""
    dotted = [path.removesuffix(".py").removesuffix("/__init__").split("/") for path in paths]
    whole = {repr(".".join(parts[start:])) for parts in dotted for start in range(len(parts))}
    return {parts[-1] for parts in dotted} | whole


def _list_recognized(texts: Mapping[str, str]) -> set[str]:
    """Return the texts that code compares with or looks up, such as options and header names."""
    return {name for node in _walk(texts) for key in _list_keys(node) for name in _name_text(key)}


def _list_keys(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.Subscript(slice=key):
            return [key]
        case ast.Call(func=ast.Attribute(attr="get" | "pop" | "getenv"), args=[key, *_]):
            return [key]
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, key, *_]):
            return [key]
        case ast.Call(args=given):  # `add_argument("--limit")`
            return [item for item in given if _OPTION.fullmatch(ast.unparse(item))]
    return []


def _list_literals(texts: Mapping[str, str]) -> set[str]:
    return {name for node in _walk(texts) for name in _name_text(node)}


def _walk(texts: Mapping[str, str]) -> Iterator[ast.AST]:
    return (node for text in texts.values() for node in ast.walk(parse_or_empty(text)))


def _name_text(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if len(text) >= _MIN_RECOGNIZED:
            yield repr(text)
            yield text  # as an attribute name for `getattr`


def find_changed_names(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return the names of functions that are new or changed in more than their docstrings."""
    return frozenset(name for name, _ in _list_functions(after) - _list_functions(before))


def _list_functions(texts: Mapping[str, str]) -> set[tuple[str, str]]:
    return {_name_function(node) for node in _walk(texts) if isinstance(node, Function)}


def _name_function(node: Function) -> tuple[str, str]:
    """Return the name of a function, and a dump of its arguments and body without docstring."""
    body = node.body[ast.get_docstring(node, False) is not None :]
    return node.name, "".join(map(ast.dump, [node.args, *body]))


def list_moved_functions(
    before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[tuple[str, Function]]:
    """Yield the functions of `after`, with their file, that `before` has unchanged in any place."""
    known = _list_functions(before)
    for path, text in after.items():
        nodes = (i for i in ast.walk(parse_or_empty(text)) if isinstance(i, Function))
        yield from ((path, node) for node in nodes if _name_function(node) in known)


def _list_definitions(texts: Mapping[str, str]) -> set[str]:
    nodes = list(_walk(texts))
    defined = {node.name for node in nodes if isinstance(node, Definition)}
    scopes = (node.body for node in nodes if isinstance(node, (ast.Module, ast.ClassDef)))
    outside = (node for body in scopes for node in iter_own_nodes(body))  # of functions
    assigned = (node.targets for node in outside if isinstance(node, ast.Assign))
    defined |= {f"{node.arg}=" for node in nodes if isinstance(node, ast.arg)}
    attributes = (node for node in nodes if isinstance(node, ast.Attribute))
    defined |= {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    return defined | {t.id for targets in assigned for t in targets if isinstance(t, ast.Name)}


def add_helpers(before: str, after: str, removed_names: Collection[str]) -> set[str]:
    """Return the removed names, and removed helpers of a test file that use such names.

    Helpers are fixtures, functions, and classes by the members that are no tests.
    """
    defined = {node.name for node in iter_definitions(after)}
    helpers = [node for node in iter_definitions(before) if node.name not in defined]
    uses = [(node.name, _list_used(node)) for node in helpers]
    found = set(removed_names)
    while more := {name for name, used in uses if name not in found and not used.isdisjoint(found)}:
        found |= more
    return found


def iter_definitions(text: str) -> Iterator[Definition]:
    """Yield the functions and classes of a file."""
    return (node for node in ast.walk(parse_or_empty(text)) if isinstance(node, Definition))


def _list_used(node: Definition) -> frozenset[str]:
    """Return the names that a function uses, or that a class uses outside of its tests."""
    if isinstance(node, Function):
        return list_names(node)
    members = (item for item in node.body if not getattr(item, "name", "").startswith("test"))
    own = {getattr(item, "name", "") for item in node.body}  # may override names of the code
    return frozenset(own).union(*map(list_names, members))


def list_values(node: ast.AST) -> frozenset[str]:
    """Return the constants of a test and its cases as literals.

    Its docstring and the names of its parameters are left out.
    """
    found = [i for i in ast.walk(node) if isinstance(i, ast.Constant)]
    first = node.body[0] if isinstance(node, Function) and node.body else None
    silent = [first.value] if isinstance(first, ast.Expr) else []
    marks = node.decorator_list if isinstance(node, Function) else []
    silent += [name for mark in marks for name in _list_parameter_names(mark)]
    return frozenset(repr(item.value) for item in found if item not in silent)


def _list_parameter_names(mark: ast.expr) -> list[ast.expr]:
    """Return the constants of a `parametrize` mark that name the parameters."""
    match mark:
        case ast.Call(ast.Attribute(attr="parametrize"), args, keywords):
            named = [item.value for item in keywords if item.arg == "argnames"]
            several = [*args[:1], *named]
            return [i for name in several for i in ast.walk(name) if isinstance(i, ast.Constant)]
    return []


def list_variables(text: str) -> set[str]:
    """Return the names in an expression that are not called."""
    nodes = list(ast.walk(parse_or_empty(text)))
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    return {node.id for node in nodes if isinstance(node, ast.Name) and node not in called}


def list_names(node: ast.AST) -> frozenset[str]:
    """Return the names that code uses: names, attributes, operator methods, keywords (`name=`)."""
    return frozenset(name for item in ast.walk(node) for name in _name(item))


def _name(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            yield name
        case ast.keyword(arg=name):
            yield f"{name}="
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator):
            kind = type(operator).__name__
            name = _OPERATORS.get(kind, kind.lower())
            yield from (f"__{start}{name}__" for start in ("", "r", "i"))


def list_standard_names(text: str) -> set[str]:
    """Return the names in a file that are built in, or imported from the standard library."""
    found = {*dir(builtins)}
    for node in parse_or_empty(text).body:
        match node:
            case ast.Import(names):
                modules = [(item.name, item.asname or item.name) for item in names]
            case ast.ImportFrom(str(module), names, 0):
                modules = [(module, item.asname or item.name) for item in names]
            case _:
                continue
        top = ((module.partition(".")[0], name.partition(".")[0]) for module, name in modules)
        found.update(name for module, name in top if module in sys.stdlib_module_names)
    return found


def list_called_roots(text: str) -> Iterator[str]:
    """Yield the first name of each called function, such as `os` of `os.path.join()`."""
    for node in ast.walk(parse_or_empty(text)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).partition(".")[0]
