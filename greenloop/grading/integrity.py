"""Integrity: code that could forge a verdict, found in the syntax tree."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from greenloop.grading.monkeypatching import find_monkeypatches
from greenloop.records import IntegrityFinding

_SUSPICIOUS_MODULES = frozenset(
    "pytest _pytest pluggy unittest gc ctypes inspect _thread marshal sys.monitoring".split()
)
# Members of suspicious modules that only describe what they are given, or are plain values.
_SAFE_MEMBERS = {
    "inspect": frozenset(
        "signature Signature Parameter BoundArguments isclass isfunction ismethod isbuiltin isroutine "
        "ismodule isabstract isgenerator isgeneratorfunction iscoroutine iscoroutinefunction "
        "isawaitable isasyncgen isasyncgenfunction isdatadescriptor ismethoddescriptor cleandoc "
        "getdoc getmro get_annotations getfullargspec".split()
    ),
    "ctypes": frozenset(
        "c_bool c_byte c_ubyte c_char c_wchar c_short c_ushort c_int c_uint c_long c_ulong c_longlong "
        "c_ulonglong c_size_t c_ssize_t c_int8 c_int16 c_int32 c_int64 c_uint8 c_uint16 c_uint32 "
        "c_uint64 c_float c_double c_longdouble sizeof alignment Structure Union Array "
        "BigEndianStructure LittleEndianStructure".split()
    ),
    "gc": frozenset("collect enable disable isenabled".split()),
}
_MEMORY_ATTRIBUTES = {"from_address", "in_dll"}  # of the types of ctypes
_NAMESPACE_CALLS = frozenset({"globals", "locals", "vars"})
_CODE_EXECUTION_NAMES = frozenset({"exec", "eval", "compile", "__import__"})
_SUSPICIOUS_CALLS = {
    "os._exit": "ends the process without pytest",
    "os.kill": "kills processes",
    "os.abort": "ends the process without pytest",
    "sys._getframe": "reads its callers' frames",
    "sys.settrace": "traces the tests",
    "sys.setprofile": "traces the tests",
    "atexit.register": "runs code after the tests",
    "os.fork": "starts a second process",
    "sys._current_frames": "reads its callers' frames",
    "traceback.extract_stack": "reads its callers' frames",
    "traceback.walk_stack": "reads its callers' frames",
    "sys.addaudithook": "observes its callers",
    "threading.settrace": "traces the tests",
    "threading.setprofile": "traces the tests",
}
_SUSPICIOUS_ATTRIBUTES = {
    "sys.modules": "changes or reads the loaded modules",
    "sys.meta_path": "changes how modules are found",
    "sys.path_hooks": "changes how modules are found",
    "sys.monitoring": "traces the tests",
    "builtins.__import__": "changes how modules are imported",
    "builtins.__build_class__": "changes how classes are made",
}
_FRAME_ATTRIBUTES = frozenset("f_back f_locals f_globals tb_frame gi_frame __subclasses__".split())


def find_integrity_issues(code: str) -> tuple[IntegrityFinding, ...]:
    """Return all findings by line; () where the code cannot be parsed."""
    try:
        tree = ast.parse(code)
        aliases = _collect_module_aliases(tree)
        safe = _find_safe_modules(tree)
        found = {i for node in ast.walk(tree) for i in _inspect_node(node, aliases, safe)}
        found |= set(find_monkeypatches(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(IntegrityFinding(line=line, what=what) for line, what in sorted(found))


def _collect_module_aliases(tree: ast.Module) -> dict[str, str]:
    """Return modules by their aliases: `o` is `os` after `import os as o`."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    return {item.asname: item.name for node in imports for item in node.names if item.asname}


def _find_safe_modules(tree: ast.Module) -> frozenset[str]:
    """Return the suspicious modules of which only safe members are used, by these names."""
    nodes = list(ast.walk(tree))
    if any(isinstance(n, ast.Name) and n.id in _NAMESPACE_CALLS for n in nodes):
        return frozenset()
    bound = {
        item.asname or item.name: item.name
        for node in nodes
        if isinstance(node, ast.Import)
        for item in node.names
    }
    read = Counter(bound[n.id] for n in nodes if isinstance(n, ast.Name) and n.id in bound)
    read_safely = Counter(
        bound[node.value.id]
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in bound
        and node.attr in _SAFE_MEMBERS.get(bound[node.value.id], ())
    )
    safe = {name for name in _SAFE_MEMBERS if read[name] == read_safely[name]}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    if attributes & _MEMORY_ATTRIBUTES:
        safe.discard("ctypes")
    return frozenset(safe - attributes)  # not as `m.inspect`, by an import of the module itself


def _inspect_node(
    node: ast.AST, aliases: dict[str, str], safe: frozenset[str]
) -> Iterator[tuple[int, str]]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from _inspect_import(node, safe)
    elif isinstance(node, ast.Attribute):
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        name = f"{aliases.get(owner, owner)}.{node.attr}"
        why = _SUSPICIOUS_CALLS.get(name) or _SUSPICIOUS_ATTRIBUTES.get(name)
        if why:
            yield node.lineno, f"`{name}` {why}"
        if node.attr in _FRAME_ATTRIBUTES:
            yield node.lineno, f"`.{node.attr}` reads frames or classes of others"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield from _inspect_call(node.func.id, node, aliases)
    elif isinstance(node, ast.FunctionDef) and node.name == "__eq__":
        if ast.unparse(node.body[-1]) == "return True" and not _has_branch(node):
            yield node.lineno, "`__eq__` returns True for everything"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value.startswith("test_") and node.value.endswith(".py"):
            yield node.lineno, f"names a test file: {node.value!r}"
        elif node.value in ("conftest.py", "PYTEST_CURRENT_TEST"):
            yield node.lineno, f"names a file or variable of pytest: {node.value!r}"


def _has_branch(node: ast.FunctionDef) -> bool:
    return any(isinstance(item, ast.If) for item in ast.walk(node))


def _inspect_call(name: str, node: ast.Call, aliases: dict[str, str]) -> Iterator[tuple[int, str]]:
    if name in _CODE_EXECUTION_NAMES:
        yield node.lineno, f"`{name}` runs code that cannot be analysed"
    owner, attribute = (
        ([*node.args, None, None][:2]) if name in ("getattr", "setattr") else (None, None)
    )
    if isinstance(owner, ast.Name) and isinstance(attribute, ast.Constant):
        full = f"{aliases.get(owner.id, owner.id)}.{attribute.value!s}"
        if why := _SUSPICIOUS_CALLS.get(full) or _SUSPICIOUS_ATTRIBUTES.get(full):
            yield node.lineno, f"`{full}` {why}"


def _inspect_import(
    node: ast.Import | ast.ImportFrom, safe: frozenset[str]
) -> Iterator[tuple[int, str]]:
    modules = [item.name for item in node.names]
    if isinstance(node, ast.ImportFrom):
        members = _SAFE_MEMBERS.get(node.module or "", frozenset())
        safe = safe if members.issuperset(modules) else frozenset()
        modules = [node.module or ""]
    for module in modules:
        if module.partition(".")[0] in _SUSPICIOUS_MODULES and module not in safe:
            yield node.lineno, f"imports `{module}`, which can change tests and frames"
    if isinstance(node, ast.ImportFrom):
        known = _SUSPICIOUS_CALLS | _SUSPICIOUS_ATTRIBUTES
        names = [f"{node.module}.{item.name}" for item in node.names]
        yield from ((node.lineno, f"`{n}` {known[n]}") for n in names if n in known)
