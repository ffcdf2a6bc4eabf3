"""Pipeline of repairs that need no model."""

from collections.abc import Collection
from dataclasses import dataclass

from greenloop.autofix.missing_imports import add_missing_imports
from greenloop.autofix.ruff import apply_ruff_fixes, find_fixable_rules, format_code
from greenloop.autofix.syntax_errors import fix_mixed_indentation, fix_syntax_errors
from greenloop.syntax.parse import parse_or_none


@dataclass(frozen=True)
class FixResult:
    """The repaired source, and a description of each repair; formatting alone is not listed."""

    code: str
    applied: tuple[str, ...] = ()


def apply_free_fixes(
    code: str,
    kept_names: Collection[str] = (),
    *,
    is_test: bool = False,
    minimal: bool = False,
) -> FixResult:
    """Apply every repair that needs no judgement; `kept_names` stay importable from the module.

    A source that does not parse is returned unchanged. With `minimal`, for a script that the user
    wrote, only what prevents it from running is changed (mixed indentation, small syntax errors,
    missing imports): the rest keeps each of its characters, and nothing is formatted.
    """
    if minimal:
        return _apply_minimal_fixes(code)
    if parse_or_none(code) is None:
        return FixResult(code)
    with_imports, added = add_missing_imports(code, is_test=is_test)
    applied = [f"added: {line}" for line in added]
    linted = apply_ruff_fixes(with_imports, kept_names)
    if linted != with_imports:
        applied += [f"ruff {item}" for item in find_fixable_rules(with_imports)]
    return FixResult(format_code(linted), tuple(applied))


def _apply_minimal_fixes(code: str) -> FixResult:
    """Repair syntax and missing imports, keeping line endings and a byte order mark."""
    mark = "\ufeff" if code.startswith("\ufeff") else ""
    body = code.removeprefix(mark)
    has_crlf = "\r\n" in body and body.count("\r\n") == body.count("\n")
    fixed, applied = _fix_syntax(body.replace("\r\n", "\n") if has_crlf else body)
    if parse_or_none(fixed) is None:
        return FixResult(code)
    fixed, added = add_missing_imports(fixed)
    applied += [f"added: {line}" for line in added]
    if not applied:
        return FixResult(code)
    return FixResult(mark + (fixed.replace("\n", "\r\n") if has_crlf else fixed), tuple(applied))


def _fix_syntax(code: str) -> tuple[str, list[str]]:
    """Repair what keeps the source from parsing; a fixed line may uncover mixed indentation."""
    if parse_or_none(code) is not None:
        return code, []
    code, errors = fix_syntax_errors(code)
    applied = [f"syntax: {item}" for item in errors]
    indented = fix_mixed_indentation(code)
    if indented != code:
        applied.append("indentation: tabs and spaces mixed")
    return indented, applied
