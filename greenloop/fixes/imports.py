"""Standard-library imports that a model forgot.

A curated table: general tools were measured to miss `defaultdict` or to give a wrong
`import datetime`. A name that could mean two things is not in it.
"""

from __future__ import annotations

import ast
import re

from greenloop.fixes.linting import undefined_names

_MODULES = (
    "abc argparse asyncio base64 bisect calendar collections contextlib copy csv dataclasses decimal "
    "difflib enum fractions functools hashlib heapq html inspect io ipaddress itertools json keyword "
    "logging math operator os pathlib queue random re secrets shlex shutil sqlite3 statistics string "
    "struct subprocess sys tempfile textwrap threading time types typing unicodedata urllib uuid "
    "warnings zlib zoneinfo"
).split()
_MEMBERS = {
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


def with_missing_imports(code: str, *, is_test: bool = False) -> tuple[str, list[str]]:
    """The code with imports for undefined names of the standard library, and the added lines."""
    lines = [line for name in undefined_names(code) if (line := _import_of(name, code, is_test))]
    if not lines:
        return code, []
    return _inserted(code, lines), lines


def _import_of(name: str, code: str, is_test: bool) -> str | None:
    if name == "pytest" and is_test:
        return "import pytest"
    if name == "datetime":
        return _import_of_datetime(code)
    if name in _MODULES and re.search(rf"\b{name}\.\w", code):
        return f"import {name}"
    for module, members in _MEMBERS.items():
        if name in members.split():
            return f"from {module} import {name}"
    return None


def _import_of_datetime(code: str) -> str:
    """The module where its members are reached through it, else the class of the same name."""
    through_module = r"\bdatetime\.(datetime|date|timedelta|timezone|time|UTC)\b"
    return "import datetime" if re.search(through_module, code) else "from datetime import datetime"


def _inserted(code: str, lines: list[str]) -> str:
    """Below the module's docstring and its `from __future__` imports."""
    at = 0
    for index, node in enumerate(ast.parse(code).body):
        docstring = (
            index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (docstring or future):
            break
        at = node.end_lineno or 0
    old = code.split("\n")
    if at == 0:
        while at < len(old) and old[at].startswith("#"):
            at += 1
    return "\n".join([*old[:at], *lines, *old[at:]])
