"""Translation of Poetry's requirements into those of pip."""

import platform
import re
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

_SEPARATOR = re.compile(r"\s*,\s*|\s+(?=[<>!=^~])")
_PART = re.compile(r"(\^|~(?!=)|=(?!=)|)\s*v?(\d+(?:\.\d+)*)(\.\*|-?[a-z][\w.]*)?")
_OTHER_PLACES = frozenset({"path", "url", "git"})


def iter_requirements(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield pip's form of the requirements in a table that apply to this Python version."""
    for name, value in table.items():
        for item in value if isinstance(value, list) else [value]:
            wanted = item if isinstance(item, dict) else {"version": item}
            python = _read_versions(wanted.get("python"))
            is_here = _OTHER_PLACES.isdisjoint(wanted) and platform.python_version() in python
            if name != "python" and is_here:
                extras = f"[{','.join(wanted['extras'])}]" if wanted.get("extras") else ""
                marker = f"; {wanted['markers']}" if wanted.get("markers") else ""
                yield f"{name}{extras}{_read_versions(wanted.get('version'))}{marker}"


def _read_versions(constraint: object) -> SpecifierSet:
    """Return the versions that a constraint allows; all if pip has no form for it (`^1 || ^3`)."""
    parts = _SEPARATOR.split(str(constraint or "").strip())
    try:
        return SpecifierSet(",".join(map(_translate, parts)))
    except InvalidSpecifier:
        return SpecifierSet()


def _translate(part: str) -> str:
    """Return pip's form: `^1.2` fixes the first number that is not zero, `~1.2.3` the first two."""
    found = _PART.fullmatch(part)
    if found is None:
        return part
    sign, numbers, rest = found[1], found[2].split("."), found[3] or ""
    if sign in ("", "="):
        return f"=={found[2]}{rest}"
    first = next((at for at, number in enumerate(numbers) if int(number)), len(numbers) - 1)
    last = first if sign == "^" else min(1, len(numbers) - 1)
    return f">={found[2]}{rest},<{'.'.join([*numbers[:last], str(int(numbers[last]) + 1)])}"
