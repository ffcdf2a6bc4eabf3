"""Index of a test file: its names, definitions, fixtures and tests."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from typing import Any

from greenloop.syntax.names import iter_assigned
from greenloop.syntax.nodes import Definition, Function, Import, get_assigned_targets
from greenloop.testsuite.parser import Classes, InheritedTests, is_test_class, iter_tests

FRAMEWORK = frozenset({"pytest", "unittest", "mock", "hypothesis", "_pytest", "pytest_mock"})
_SETUP = ("setup_module", "setup_function", "setUpModule")


def walk_names(*nodes: ast.AST) -> Iterator[str]:
    """Yield the names that nodes load."""
    for node in nodes:
        for item in ast.walk(node):
            if isinstance(item, ast.Name):
                yield item.id


class TestSource:
    """Statements of a test file and its conftest.py, by kind.

    `own` are the names from the module under test, `definitions` the file's definitions by name.
    """

    __test__ = False

    def __init__(self, tree: ast.Module, conftest: ast.Module, module: str) -> None:
        self._root, self._module = module.partition(".")[0], module
        self._aliases: dict[str, str] = {}
        self.own: set[str] = set()
        self.statements: list[ast.stmt] = []  # those of the preamble
        self.definitions: dict[str, ast.stmt] = {}
        self.constants: dict[str, ast.expr] = {}
        self.fixtures: dict[str, Function] = {}
        inherited = InheritedTests(tree.body)
        self.classes = inherited.classes
        self.tests: list[tuple[Function, Classes]] = list(
            iter_tests(tree.body, list_body=inherited.list_body)
        )
        self.has_setup = False
        counts = Counter(
            name for node in tree.body for name in iter_assigned(*get_assigned_targets(node))
        )
        for node in (*conftest.body, *tree.body):
            self._read(node, counts)

    def _read(self, node: ast.stmt, counts: Counter[str]) -> None:
        if isinstance(node, Import):
            self.read_import(node)
            if not self.is_of_framework(node):
                self.statements.append(node)
        elif isinstance(node, Definition):
            self._read_definition(node)
        elif names := list(iter_assigned(*get_assigned_targets(node))):
            self.definitions |= dict.fromkeys(names, node)
            self.statements.append(node)
            value = getattr(node, "value", None)
            if len(names) == 1 and counts[names[0]] == 1 and isinstance(value, ast.expr):
                self.constants[names[0]] = value
        elif self._is_setup(node) and not self.is_of_framework(node):
            self.statements.append(node)

    def _is_setup(self, node: ast.stmt) -> bool:
        """Whether a statement outside of tests prepares them, such as a call that sets a seed."""
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Call)
        return not isinstance(node, ast.If)

    def _read_definition(self, node: Any) -> None:
        if self.find_fixture_mark(node):
            self.fixtures[node.name] = node
        elif isinstance(node, ast.ClassDef) and is_test_class(node):
            pass
        elif isinstance(node, ast.ClassDef) or not node.name.startswith("test"):
            self.has_setup = self.has_setup or node.name in _SETUP
            self.definitions[node.name] = node
            self.statements.append(node)

    def read_import(self, node: ast.stmt) -> None:
        """Record the names that an import binds."""
        for item in getattr(node, "names", ()):
            name = item.asname or item.name.partition(".")[0]
            if isinstance(node, ast.ImportFrom):
                self._aliases[name] = f"{node.module}.{item.name}"
                is_own = (node.module or "").partition(".")[0] == self._root
            else:
                self._aliases[name] = item.name if item.asname else name
                is_own = name == self._root or item.name.partition(".")[0] == self._root
            if is_own:
                self.own.add(name)

    def get_path(self, node: ast.AST) -> str:
        """Return the dotted name of an expression, with imported names resolved; '' for others."""
        if isinstance(node, ast.Name):
            return self._aliases.get(node.id, node.id)
        if isinstance(node, ast.Attribute) and (owner := self.get_path(node.value)):
            return f"{owner}.{node.attr}"
        return ""

    def is_of_framework(self, node: ast.AST) -> bool:
        """Return whether a node uses a test framework."""
        if isinstance(node, ast.ImportFrom):
            return (node.module or "").partition(".")[0] in FRAMEWORK
        if isinstance(node, ast.Import):
            return any(item.name.partition(".")[0] in FRAMEWORK for item in node.names)
        names = {self._aliases.get(name, name).partition(".")[0] for name in walk_names(node)}
        return not names.isdisjoint(
            FRAMEWORK & {i.partition(".")[0] for i in self._aliases.values()}
        )

    def find_fixture_mark(self, node: ast.stmt) -> ast.expr | None:
        """Return the decorator that makes a function a fixture."""
        for item in getattr(node, "decorator_list", ()):
            function = item.func if isinstance(item, ast.Call) else item
            if self.get_path(function).endswith(("pytest.fixture", "pytest_asyncio.fixture")):
                return item  # type: ignore[no-any-return]
        return None

    def render_preamble(self, bodies: Iterable[ast.AST], extra: Iterable[ast.stmt]) -> str:
        """Return imports, and the definitions that the bodies use, in the order of the file."""
        setup = [node for node in self.statements if self._is_used(node, frozenset())]
        used, added = set(walk_names(*bodies, *setup)), True
        kept = list(extra)
        while added:
            found = {walk for item in kept for walk in walk_names(item)}
            more = {
                i
                for name in used | found
                if (n := self.definitions.get(name))
                for i in walk_names(n)
            }
            added = not (more | found) <= used
            used |= more | found
        chosen = [node for node in self.statements if self._is_used(node, used)]
        chosen.sort(key=lambda node: getattr(node, "module", "") != "__future__")  # must be first
        return "\n".join(map(ast.unparse, [*chosen, *kept]))

    def _is_used(self, node: ast.stmt, used: Set[str]) -> bool:
        if isinstance(node, Definition):
            return node.name in used
        names = list(iter_assigned(*get_assigned_targets(node)))
        return not names or not used.isdisjoint(names)
