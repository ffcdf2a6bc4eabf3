"""All free fixes in their order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from greenloop.autofix.minimal import apply_minimal_fixes
from greenloop.autofix.missing_imports import add_missing_imports
from greenloop.autofix.ruff import apply_ruff_fixes, format_code, lint_code
from greenloop.syntax.parse import parse_or_none


@dataclass(frozen=True)
class FixResult:
    """The source afterwards; what was mended, in words. Formatting alone is not named."""

    code: str
    applied: tuple[str, ...] = ()


def apply_free_fixes(
    code: str, kept_names: Collection[str] = (), *, is_test: bool = False, minimal: bool = False
) -> FixResult:
    """Mends what needs no judgement. `keep` are names that must stay importable from the module.

    A source that does not parse comes back as it is: only a model can mend that. With `minimal`, for
    a person's own script, only what it needs in order to run is changed (Python 2, mixed tabs and
    slips of syntax included), each character of the rest stays, and nothing is formatted.
    """
    if minimal:
        mended, words = apply_minimal_fixes(code)
        return FixResult(mended, tuple(words))
    if parse_or_none(code) is None:
        return FixResult(code)
    found = lint_code(code)
    with_imports, added = add_missing_imports(code, found.undefined, is_test=is_test)
    codes = lint_code(with_imports).fixable if added else found.fixable
    linted = apply_ruff_fixes(with_imports, kept_names) if codes else with_imports
    if linted == with_imports:
        codes = ()
    applied = [f"added: {line}" for line in added] + [f"ruff {item}" for item in codes]
    return FixResult(format_code(linted), tuple(applied))
