"""The module that a test file tests: its name, its names in the file, and its calls."""

import ast
import re
import site
import sys
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from importlib.machinery import PathFinder

from greenloop.dependencies.names import iter_imported_modules
from greenloop.syntax.names import get_dotted_name
from greenloop.syntax.nodes import copy_tree
from greenloop.syntax.parse import parse_or_none

DEFAULT_MODULE = "solution"
_RELATIVE_IMPORT = re.compile(r"(?m)^(\s*from\s+)(\.+)([\w.]*)(?=\s+import\b)")


def find_tested_module(test_code: str, packages: Collection[str]) -> str:
    """Return the module that a test file tests; `solution` if it imports only installed ones."""
    return find_imported_module(test_code, packages) or DEFAULT_MODULE


def find_imported_module(test_code: str, packages: Collection[str] = ()) -> str | None:
    """Return the last imported module that is not installed: by convention local imports are last.

    `packages` are importable in runs, though not installed here.
    """
    return next(reversed(list_imported_modules(test_code, packages)), None)


def list_imported_modules(code: str, packages: Collection[str] = ()) -> list[str]:
    """Return the top-level names of imported modules that are not installed, in tree order."""
    tree = parse_or_none(code)
    imported = iter_imported_modules(tree) if tree else ()
    return [name for name in imported if name not in packages and not _is_installed(name)]


def name_imports_fully(code: str, path: str, files: Container[str]) -> str:
    """Return a file of a project with absolute in place of relative imports."""
    parts = path.removesuffix(".py").split("/")
    at = count_outer_folders(parts, files)

    def name_fully(found: re.Match[str]) -> str:
        package = [*parts[at : -len(found[2])], *filter(None, [found[3]])]
        return found[1] + ".".join(package) if package else found[0]

    return _RELATIVE_IMPORT.sub(name_fully, code)


def count_outer_folders(parts: Sequence[str], files: Container[str]) -> int:
    """Return the number of folders in a path that are outside of its outermost package."""
    at = len(parts) - 1
    while at and "/".join([*parts[:at], "__init__.py"]) in files:
        at -= 1
    return at


def _is_installed(name: str) -> bool:
    """Search site-packages only: `find_spec` would find modules in the user's working folder."""
    if name in sys.stdlib_module_names:
        return True
    try:
        return PathFinder.find_spec(name, site.getsitepackages()) is not None
    except (ImportError, ValueError):
        return False


def list_imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a file imports, and their imported members, which may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{item.name}" for item in node.names)


def read_imports(tree: ast.AST, module: str) -> dict[str, str]:
    """Return the module's name for each imported name of a test file; '' for the module itself."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            names |= {item.asname or item.name: item.name for item in node.names}
        elif isinstance(node, ast.Import):
            names |= {item.asname or item.name: "" for item in node.names if item.name == module}
    return names


def get_member(node: ast.expr, names: Mapping[str, str]) -> str:
    """Return the member of the module that a name or attribute stands for; '' for others."""
    match node:
        case ast.Name(id=name):
            return names.get(name, "")
        case ast.Attribute(value=owner, attr=name) if names.get(get_dotted_name(owner)) == "":
            return name
    return ""


def fill_in(
    node: ast.expr, values: Mapping[str, ast.expr], names: Mapping[str, str] | None = None
) -> ast.expr:
    """Return an expression with `values` in place of names, and members of the module unqualified.

    `names` are the imports of the test file, as `read_imports` returns them.
    """
    filled: ast.expr = _Filler(values, names or {}).visit(copy_tree(node))
    return filled


class _Filler(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr], names: Mapping[str, str]) -> None:
        self._values, self._names = values, names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        member = get_member(node, self._names)
        return ast.Name(member, ast.Load()) if member else self._values.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        member = get_member(node, self._names)
        return ast.Name(member, ast.Load()) if member else self.generic_visit(node)
