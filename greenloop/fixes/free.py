"""All free fixes in their order."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from greenloop.fixes.formatting import formatted
from greenloop.fixes.imports import with_missing_imports
from greenloop.fixes.linting import fixed_by_ruff


@dataclass(frozen=True)
class Fixed:
    """The source afterwards; what was mended, in words. Formatting alone is not named."""

    code: str
    applied: tuple[str, ...] = ()


def free_fixes(code: str, keep: Collection[str] = (), *, is_test: bool = False) -> Fixed:
    """Mends what needs no judgement. `keep` are names that must stay importable from the module.

    A source that does not parse comes back as it is: only a model can mend that.
    """
    if not _parses(code):
        return Fixed(code)
    with_imports, added = with_missing_imports(code, is_test=is_test)
    linted, codes = fixed_by_ruff(with_imports, keep)
    applied = [f"added: {line}" for line in added] + [f"ruff {item}" for item in codes]
    return Fixed(formatted(linted), tuple(applied))


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
