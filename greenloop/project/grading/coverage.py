"""Coverage of the changed lines of a project."""

import ast
from collections.abc import Iterator, Mapping, Sequence, Set

from greenloop.grading.coverage.line_map import find_statement_ends
from greenloop.project.weakening.conditions.strength import collect_names
from greenloop.project.weakening.machines import holds_here
from greenloop.records import Baseline, Coverage, Thresholds
from greenloop.sandbox.guest.coverage.instrumentation import instrument_file
from greenloop.syntax.parse import parse_or_empty


def measure_coverage(
    texts: Mapping[str, str],
    lines: Mapping[str, Set[int]],
    baseline: Baseline,
    thresholds: Thresholds,
) -> Coverage | str:
    """Return the coverage of statements and branches on the given lines, or why there is none.

    Statements for type checkers, other machines and missing packages are left out.
    """
    statements: dict[str, bool] = {}
    branches: dict[str, bool] = {}
    tested: list[str] = []
    for path, changed in sorted(lines.items()):
        run = baseline.find_tested_lines(path)
        reached, taken = baseline.reached.get(path, {}), baseline.branches.get(path, ())
        found = find_changed_statements(texts[path], changed)
        left_out = set(_list_never_run(parse_or_empty(texts[path])))
        found = [line for line in found if line not in left_out]
        statements |= {f"{path}:{line}": line in reached for line in found}
        tested += [f"{path}:{line}" for line in found if line in run]
        meaning = instrument_file(texts[path])
        names = meaning.branches.values() if meaning else ()
        chosen = (name for name in names if int(name.partition("->")[0]) in found)
        branches |= {f"{path}:{name}": name in taken for name in chosen}
    if not statements:
        return "the changed lines have no statement"
    line, branch = (sum(i.values()) / len(i) if i else 1.0 for i in (statements, branches))
    return Coverage(
        reached=line >= thresholds.line_coverage and branch >= thresholds.branch_coverage,
        line=round(line, 4),
        branch=round(branch, 4),
        missed_places=tuple(place for place, is_hit in statements.items() if not is_hit),
        missed_branches=tuple(place for place, is_hit in branches.items() if not is_hit),
        tested_places=tuple(tested),
    )


def _list_never_run(tree: ast.Module) -> Iterator[int]:
    """Yield the lines for type checkers, for other machines, and for missing packages."""
    for item in ast.walk(tree):
        other: Sequence[ast.stmt] = ()
        if isinstance(item, ast.ExceptHandler) and item.type is not None:
            is_lacking = collect_names(item.type) <= {"ImportError", "ModuleNotFoundError"}
            other = item.body if is_lacking else ()
        elif isinstance(item, ast.If):
            is_typing = ast.unparse(item.test).endswith("TYPE_CHECKING")
            is_here = False if is_typing else holds_here(item.test)
            other = () if is_here is None else item.orelse if is_here else item.body
        for part in other:
            yield from range(part.lineno, (part.end_lineno or part.lineno) + 1)


def find_changed_statements(text: str, changed: Set[int]) -> list[int]:
    """Return the first lines of the statements that have a changed line."""
    meaning = instrument_file(text)
    if meaning is None:
        return []
    ends = find_statement_ends(text)
    first = sorted(set(meaning.lines.values()))
    return [at for at in first if not changed.isdisjoint(range(at, ends.get(at, at) + 1))]
