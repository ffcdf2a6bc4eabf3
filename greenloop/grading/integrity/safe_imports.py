"""Safe uses of suspicious modules: only members that cannot read or change tests are used."""

import ast
from collections import Counter
from collections.abc import Collection

# Members of suspicious modules that only describe their arguments, or are plain values.
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
_MEMORY_ATTRIBUTES = {"from_address", "in_dll"}  # of ctypes types; they reach any memory
_NAMESPACE_CALLS = frozenset({"globals", "locals", "vars"})


def find_safe_modules(tree: ast.Module) -> frozenset[str]:
    """Return the suspicious modules of which the code uses only safe members."""
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
        and are_safe(bound[node.value.id], [node.attr])
    )
    safe = {name for name in _SAFE_MEMBERS if read[name] == read_safely[name]}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    if attributes & _MEMORY_ATTRIBUTES:
        safe.discard("ctypes")
    return frozenset(safe - attributes)  # `m.inspect` may be another way to the whole module


def are_safe(module: str, members: Collection[str]) -> bool:
    """Return whether all `members` of a suspicious module are safe."""
    return _SAFE_MEMBERS.get(module, frozenset()).issuperset(members)
