"""All free fixes in their order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from greenloop.autofix.minimal import minimal_fixes
from greenloop.autofix.missing_imports import with_missing_imports
from greenloop.autofix.ruff import findings, fixed_by_ruff, formatted
from greenloop.syntax.parse import parsed


@dataclass(frozen=True)
class Fixed:
    """The source afterwards; what was mended, in words. Formatting alone is not named."""

    code: str
    applied: tuple[str, ...] = ()


def free_fixes(
    code: str, keep: Collection[str] = (), *, is_test: bool = False, minimal: bool = False
) -> Fixed:
    """Mends what needs no judgement. `keep` are names that must stay importable from the module.

    A source that does not parse comes back as it is: only a model can mend that. With `minimal`, for
    a person's own script, only what it needs in order to run is changed (Python 2, mixed tabs and
    slips of syntax included), each character of the rest stays, and nothing is formatted.
    """
    if minimal:
        mended, words = minimal_fixes(code)
        return Fixed(mended, tuple(words))
    if parsed(code) is None:
        return Fixed(code)
    found = findings(code)
    with_imports, added = with_missing_imports(code, found.undefined, is_test=is_test)
    codes = findings(with_imports).fixable if added else found.fixable
    linted = fixed_by_ruff(with_imports, keep) if codes else with_imports
    if linted == with_imports:
        codes = ()
    applied = [f"added: {line}" for line in added] + [f"ruff {item}" for item in codes]
    return Fixed(formatted(linted), tuple(applied))
