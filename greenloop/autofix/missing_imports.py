"""Missing standard-library imports.

The table is curated: general tools were measured to miss `defaultdict` or to add a wrong
`import datetime`. A name with two possible origins is left out.
"""

import ast
import importlib

from greenloop.autofix.ruff import find_undefined_names
from greenloop.syntax.nodes import find_head_end
from greenloop.syntax.parse import parse_or_empty

_MODULES = (
    "abc argparse asyncio base64 bisect calendar collections contextlib copy csv dataclasses decimal "
    "difflib enum fractions functools hashlib heapq html inspect io ipaddress itertools json keyword "
    "logging math operator os pathlib queue random re secrets shlex shutil sqlite3 statistics string "
    "struct subprocess sys tempfile textwrap threading time types typing unicodedata urllib uuid "
    "warnings zlib zoneinfo"
).split()
_URLLIB_MODULES = frozenset({"error", "parse", "request", "robotparser"})
_IMPORTABLE_NAMES = {
    "abc": "ABC abstractmethod",
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "collections.abc": (
        "AsyncIterator Awaitable Callable Collection Generator Hashable ItemsView Iterable Iterator "
        "KeysView Mapping MutableMapping MutableSequence MutableSet Sequence Sized ValuesView"
    ),
    "contextlib": "ExitStack asynccontextmanager closing contextmanager nullcontext suppress",
    "copy": "deepcopy",
    "dataclasses": "asdict astuple dataclass field fields",
    "datetime": "date timedelta timezone",
    "decimal": "Decimal InvalidOperation ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_EVEN ROUND_HALF_UP",
    "enum": "Enum Flag IntEnum IntFlag auto unique",
    "fractions": "Fraction",
    "functools": "cache cached_property lru_cache partial reduce singledispatch total_ordering wraps",
    "io": "BytesIO StringIO",
    "itertools": "accumulate combinations groupby islice pairwise permutations product takewhile zip_longest",
    "math": "ceil floor gcd inf isclose isnan prod sqrt",
    "operator": "attrgetter itemgetter",
    "pathlib": "Path PurePath PurePosixPath",
    "textwrap": "dedent",
    "types": "MappingProxyType SimpleNamespace TracebackType",
    "typing": (
        "Any ClassVar Dict Final Generic List Literal NamedTuple NoReturn Optional Protocol Set Tuple "
        "Type TypeVar TypedDict Union cast overload"
    ),
    "zoneinfo": "ZoneInfo",
}
_NAMES_BY_MODULE = {module: frozenset(names.split()) for module, names in _IMPORTABLE_NAMES.items()}


_DATETIME_MEMBERS = frozenset({"datetime", "date", "timedelta", "timezone", "time", "UTC"})


def add_missing_imports(code: str, *, is_test: bool = False) -> tuple[str, list[str]]:
    """Return the code with imports for undefined standard-library names, and the added lines."""
    tree = parse_or_empty(code)
    names = find_undefined_names(code)
    lines = [line for name in names for line in _find_imports(name, tree, is_test)]
    return (_insert_imports(code, lines), lines) if lines else (code, [])


def _find_imports(name: str, tree: ast.Module, is_test: bool) -> list[str]:
    """Return the imports to add for an undefined name; [] where its meaning is ambiguous."""
    if name == "pytest" and is_test:
        return ["import pytest"]
    members = _find_accessed_members(name, tree)
    if name == "datetime":
        return _find_datetime_imports(members, tree)
    if name == "urllib":  # importing it does not import its submodules
        return [f"import urllib.{item}" for item in sorted(members & _URLLIB_MODULES)]
    # Where the module lacks one of the members, the name is an undefined variable.
    if name in _MODULES and members and members <= set(dir(importlib.import_module(name))):
        return [f"import {name}"]
    return [
        f"from {module} import {name}" for module, all_ in _NAMES_BY_MODULE.items() if name in all_
    ]


def _find_accessed_members(name: str, tree: ast.Module) -> set[str]:
    """Return the attributes accessed on a name: `x` of `name.x`."""
    nodes = [item for item in ast.walk(tree) if isinstance(item, ast.Attribute)]
    return {n.attr for n in nodes if isinstance(n.value, ast.Name) and n.value.id == name}


def _find_datetime_imports(members: set[str], tree: ast.Module) -> list[str]:
    """Return the import of the module where its members are used, else of the class."""
    called = any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "datetime"
        for n in ast.walk(tree)
    )
    if not members & _DATETIME_MEMBERS:
        return ["from datetime import datetime"]
    is_unclear = called or members - _DATETIME_MEMBERS - {"MINYEAR", "MAXYEAR"}
    return [] if is_unclear else ["import datetime"]


def _insert_imports(code: str, lines: list[str]) -> str:
    """Insert lines below the module's docstring and its `from __future__` imports."""
    at = find_head_end(ast.parse(code), lambda node: getattr(node, "module", "") == "__future__")
    old = code.split("\n")
    if at == 0:
        while at < len(old) and old[at].startswith("#"):
            at += 1
    return "\n".join([*old[:at], *lines, *old[at:]])
