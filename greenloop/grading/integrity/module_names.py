"""Resolution of the names in a source to modules of the standard library, through aliases too."""

import ast
import sys
from collections.abc import Iterator

from greenloop.syntax.nodes import get_last_name

# Modules that show or change the process around the code. Other modules expose them as members.
_MODULES_OF_THE_PROCESS = frozenset(
    "os sys gc inspect builtins threading _thread signal resource platform socket posix ctypes "
    "faulthandler traceback importlib warnings atexit".split()
)
# Members that have the name of a module but are none.
_NO_MODULES = frozenset({"sys.platform", *(f"{name}.{name}" for name in _MODULES_OF_THE_PROCESS)})
# Modules whose use as a value is reported, because the receiver is not analysed.
FOLLOWED = frozenset({"os", "sys", "gc", "inspect", "posix"})
LOOKUPS = frozenset({"getattr", "hasattr", "setattr", "delattr"})


class ModuleNames:
    """Modules that the names of a source are bound to."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        self._modules = dict(_find_imports(nodes))
        self._known: set[int] = set()
        for node in nodes:
            if isinstance(node, ast.Assign) and (module := self.resolve(node.value)):
                names = [item.id for item in node.targets if isinstance(item, ast.Name)]
                self._modules |= dict.fromkeys(names, module)
                self._known |= {id(node.value)} if len(names) == len(node.targets) else set()
            elif isinstance(node, ast.Attribute):
                self._known.add(id(node.value))
            elif isinstance(node, ast.Call) and _has_constant_name(node):
                self._known.add(id(node.args[0]))

    def resolve(self, node: ast.expr) -> str:
        """Return the name of the module that an expression evaluates to; '' if it is not known."""
        if isinstance(node, ast.Name):
            return self._modules.get(node.id, "")
        if isinstance(node, ast.Attribute) and node.attr in _MODULES_OF_THE_PROCESS:
            owner = self.resolve(node.value)
            return node.attr if _is_member(owner, node.attr) else ""
        if isinstance(node, ast.Call) and get_last_name(node.func) in (
            "import_module",
            "__import__",
        ):
            name = node.args[0] if node.args else None
            return str(name.value) if isinstance(name, ast.Constant) else ""
        return ""

    def is_handed_on(self, node: ast.Name) -> bool:
        """Return whether a name passes one of the `FOLLOWED` modules on as a value."""
        is_read = isinstance(node.ctx, ast.Load) and id(node) not in self._known
        return is_read and self.resolve(node) in FOLLOWED


def _find_imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for item in node.names:
                first = item.name.partition(".")[0]
                yield (item.asname, item.name) if item.asname else (first, first)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for item in node.names:
                if item.name in _MODULES_OF_THE_PROCESS and _is_member(
                    node.module or "", item.name
                ):
                    yield item.asname or item.name, item.name


def _is_member(owner: str, name: str) -> bool:
    """Return whether a module of the standard library has another one as a member."""
    is_standard = owner.partition(".")[0] in sys.stdlib_module_names
    return is_standard and f"{owner}.{name}" not in _NO_MODULES


def _has_constant_name(node: ast.Call) -> bool:
    is_lookup = get_last_name(node.func) in LOOKUPS and len(node.args) > 1
    return is_lookup and isinstance(node.args[1], ast.Constant)
