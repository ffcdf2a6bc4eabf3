"""Integrity: code that could forge a verdict, found in the syntax tree."""

import ast
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from operator import attrgetter

from greenloop.grading.integrity.module_names import ModuleNames
from greenloop.grading.integrity.process_reads import find_process_reads
from greenloop.grading.integrity.safe_imports import are_safe, find_safe_modules
from greenloop.records import IntegrityFinding
from greenloop.syntax.names import find_stores
from greenloop.syntax.nodes import Function, bound_names, get_assigned_targets
from greenloop.syntax.parse import PARSE_ERRORS, parse_or_empty

_SUSPICIOUS_MODULES = frozenset(
    "pytest _pytest pluggy unittest gc ctypes inspect _thread marshal dis sys.monitoring __main__".split()
)
_CODE_EXECUTION_NAMES = frozenset({"exec", "eval", "compile", "__import__"})
_READS_FRAMES = "reads its callers' frames"
_READS_SOURCE = "reads source code, which tells a mutant from the original"
_NAMES_BY_EFFECT = {
    "ends the process before pytest can report": "os._exit os.abort",
    "kills processes": "os.kill",
    "starts a second process": "os.fork",
    "traces the tests": (
        "sys.settrace sys.setprofile sys.monitoring threading.settrace threading.setprofile"
    ),
    "observes its callers": "sys.addaudithook",
    "changes or reads the loaded modules": "sys.modules",
    "changes how modules are found": "sys.meta_path sys.path_hooks",
    "runs code after the tests": "atexit.register",
    "reads how its process was started, which tells a test run from others": (
        "sys.flags sys.orig_argv sys._xoptions sys.path_importer_cache"
    ),
    "changes how modules are imported": "builtins.__import__",
    "changes how classes are made": "builtins.__build_class__",
    _READS_FRAMES: (
        "sys._getframe sys._current_frames traceback.extract_stack traceback.walk_stack traceback.walk_tb"
    ),
    _READS_SOURCE: (
        "inspect.findsource inspect.getsource inspect.getsourcelines linecache.getline "
        "linecache.getlines"
    ),
}
_SUSPICIOUS_NAMES = {
    name: effect for effect, names in _NAMES_BY_EFFECT.items() for name in names.split()
}
_FRAME_ATTRIBUTES = frozenset(
    "f_back f_locals f_globals tb_frame tb_next gi_frame __globals__ __builtins__ __subclasses__".split()
)
# Names by which code finds its own code object or file, so that it knows whether it was changed.
_CODE_OBJECT_NAMES = frozenset(
    "__code__ f_code gi_code cr_code ag_code co_code co_consts co_names co_lines co_linetable "
    "co_positions co_firstlineno co_filename".split()
)
_OWN_FILE_NAMES = frozenset({"__file__", "__cached__", "__loader__", "__spec__"})
# Uses of these names that reveal no change: the parameters of a function, the folder of a file.
_PARAMETER_ATTRIBUTES = frozenset(
    "co_argcount co_kwonlyargcount co_posonlyargcount co_varnames co_name co_qualname co_flags".split()
)
_PATH_PARTS = frozenset({"parent", "parents", "name", "stem", "dirname", "basename"})
_PATH_CALLS = frozenset("Path PurePath resolve absolute abspath realpath fspath str".split())
# Modules and attributes of the standard library that are meant to be set.
_SETTABLE_MODULES = frozenset(
    {"sys", "os", "logging", "locale", "readline", "threading", "mimetypes"}
)
_SETTABLE_ATTRIBUTES = frozenset({"showwarning", "formatwarning", "debug"})
_OWN_PROCESS = ("/proc/self", "/proc/thread-self")
_Finding = tuple[ast.expr | ast.stmt, str]


def find_integrity_issues(code: str) -> tuple[IntegrityFinding, ...]:
    """Return all findings by line; () if the code cannot be parsed."""
    try:
        tree = ast.parse(code)
        inspector = _Inspector(tree)
        nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.expr, ast.stmt))]
        found = {(at.lineno, what) for node in nodes for at, what in inspector.inspect(node)}
    except PARSE_ERRORS:
        return ()
    return tuple(IntegrityFinding(line=line, what=what) for line, what in sorted(found))


class _Inspector:
    """Integrity rules for one module, whose imports resolve names."""

    def __init__(self, tree: ast.Module) -> None:
        self._names = ModuleNames(tree)
        self._executing = _CODE_EXECUTION_NAMES - _find_own_names(tree)
        self._safe_modules = find_safe_modules(tree)
        self._safe = {id(name) for node in ast.walk(tree) for name in _find_safe_uses(node)}

    def inspect(self, node: ast.expr | ast.stmt) -> Iterator[_Finding]:
        """Yield the findings of one node, without its children."""
        targets = node.targets if isinstance(node, ast.Delete) else get_assigned_targets(node)
        for target in targets:
            yield from self._inspect_target(target)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _inspect_import(node, self._safe_modules)
        elif isinstance(node, ast.FunctionDef):
            yield from _inspect_function(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _inspect_text(node, node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from self._inspect_call(node, node.func.id)
        elif isinstance(node, ast.Attribute):
            yield from self._inspect_attribute(node)
        elif isinstance(node, ast.Name) and node.id in _OWN_FILE_NAMES:
            yield from self._inspect_self_reference(node, node.id)

    def _inspect_attribute(self, node: ast.Attribute) -> Iterator[_Finding]:
        yield from self._inspect_member(node, node.value, node.attr)
        if node.attr in _FRAME_ATTRIBUTES:
            yield node, f"`.{node.attr}` reads frames, names or classes of others"
        elif node.attr in _CODE_OBJECT_NAMES | _OWN_FILE_NAMES:
            yield from self._inspect_self_reference(node, node.attr)

    def _inspect_self_reference(self, node: ast.expr, name: str) -> Iterator[_Finding]:
        if id(node) not in self._safe:
            yield node, f"`{name}` {_READS_SOURCE}"

    def _inspect_member(self, node: ast.expr, owner: ast.expr, name: str) -> Iterator[_Finding]:
        known = self._names.resolve(owner) or getattr(owner, "id", "")
        if why := _SUSPICIOUS_NAMES.get(full := f"{known}.{name}"):
            yield node, f"`{full}` {why}"

    def _inspect_call(self, node: ast.Call, name: str) -> Iterator[_Finding]:
        if name in self._executing:
            yield node, f"`{name}` runs code that cannot be analysed"
        owner, attribute = [*node.args, None, None][:2]
        if name in ("getattr", "setattr") and owner and isinstance(attribute, ast.Constant):
            yield from self._inspect_member(node, owner, str(attribute.value))
        if name == "setattr" and owner and (what := self._find_patched(owner)):
            yield node, f"replaces parts of `{what}` for the whole process, tests included"

    def _inspect_target(self, target: ast.expr) -> Iterator[_Finding]:
        if isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                yield from self._inspect_target(item)
        elif not isinstance(target, ast.Attribute) or target.attr in _SETTABLE_ATTRIBUTES:
            return
        elif what := self._find_patched(target):
            yield target, f"replaces `{what}` for the whole process, tests included"

    def _find_patched(self, node: ast.expr) -> str:
        """Return the part of the standard library that setting `node` replaces; '' for none."""
        first, dot, rest = ast.unparse(node).partition(".")
        module = self._names.resolve(ast.Name(first))
        is_protected = module.partition(".")[0] in sys.stdlib_module_names
        return f"{module}{dot}{rest}" if is_protected and module not in _SETTABLE_MODULES else ""


def _find_own_names(tree: ast.Module) -> set[str]:
    """Return the names of built-in functions that run code, but here are the module's own.

    Only a function or import at the top gives one, before any use, and if nothing else binds it.
    """
    nodes = list(ast.walk(tree))
    starts = {
        name: node.body[0] if isinstance(node, Function) else node
        for node in tree.body
        if isinstance(node, Function) or _is_import_from_elsewhere(node)
        for name in bound_names([node]) & _CODE_EXECUTION_NAMES
    }
    uses = [node for node in nodes if isinstance(node, ast.Name)] if starts else []
    bound = Counter(name for node in nodes if starts for name in bound_names([node]))
    return {
        name
        for name, start in starts.items()
        if bound[name] == 1
        and all(_get_place(start) <= _get_place(node) for node in uses if node.id == name)
    }


def _is_import_from_elsewhere(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and not (node.module or "builtins").endswith("builtins")


def _get_place(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _find_safe_uses(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the code objects and file names of which a node reads only parameters or a path."""
    if isinstance(node, ast.Attribute) and node.attr in _PARAMETER_ATTRIBUTES:
        yield node.value
    elif isinstance(node, (ast.Attribute, ast.Call)) and _get_last_name(node) in _PATH_PARTS:
        parts = list(ast.walk(node))
        calls = {_get_last_name(item) for item in parts if isinstance(item, ast.Call)}
        if calls <= _PATH_CALLS | _PATH_PARTS:
            yield from (item for item in parts if isinstance(item, ast.Name))


def _get_last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _get_last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _inspect_import(node: ast.Import | ast.ImportFrom, safe: Collection[str]) -> Iterator[_Finding]:
    names = [item.name for item in node.names]
    for module in names if isinstance(node, ast.Import) else [node.module or ""]:
        is_safe = module in safe and (isinstance(node, ast.Import) or are_safe(module, names))
        if module.partition(".")[0] in _SUSPICIOUS_MODULES and not is_safe:
            yield node, f"imports `{module}`, which can change tests and frames"
    if isinstance(node, ast.ImportFrom):
        full = [f"{node.module}.{name}" for name in names]
        yield from ((node, f"`{n}` {_SUSPICIOUS_NAMES[n]}") for n in full if n in _SUSPICIOUS_NAMES)


def _inspect_function(node: ast.FunctionDef) -> Iterator[_Finding]:
    has_branch = any(isinstance(item, ast.If) for item in ast.walk(node))
    if node.name == "__eq__" and not has_branch and ast.unparse(node.body[-1]) == "return True":
        yield node, "`__eq__` returns True for everything"


def _inspect_text(node: ast.Constant, text: str) -> Iterator[_Finding]:
    if text in _CODE_OBJECT_NAMES:
        yield node, f"`{text}` {_READS_SOURCE}"
    elif text.startswith(_OWN_PROCESS):
        yield node, f"`{text}` shows how its process was started"
    elif text in _FRAME_ATTRIBUTES:  # for getattr or operator.attrgetter
        yield node, f"`{text}` reads frames, names or classes of others"


def find_findings(code: str, tests: Iterable[str]) -> tuple[IntegrityFinding, ...]:
    """Return integrity issues, and process reads that no test names, by line.

    Those of the block that runs only if the module is executed as a script are left out.
    """
    found = {*find_integrity_issues(code), *find_process_reads(code, tests)}
    unused = _list_script_lines(code) if found else set()
    kept = (item for item in found if item.line not in unused)
    return tuple(sorted(kept, key=attrgetter("line", "what")))


def _list_script_lines(code: str) -> set[int]:
    """Return the lines below `if __name__ == "__main__":` in a module that sets no `__name__`."""
    tree = parse_or_empty(code)
    if "__name__" in find_stores(tree):
        return set()
    blocks = (node for node in tree.body if isinstance(node, ast.If))
    mains = (node for node in blocks if ast.unparse(node.test) == "__name__ == '__main__'")
    spans = (range(at.body[0].lineno, (at.body[-1].end_lineno or 0) + 1) for at in mains)
    return {line for span in spans for line in span}
