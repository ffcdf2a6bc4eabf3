"""Coverage of the changed lines of a project."""

from __future__ import annotations

from collections.abc import Mapping, Set

from greenloop.project.line_map import find_statement_ends, instrument_file
from greenloop.records import Baseline, Coverage, Thresholds


def measure_coverage(
    texts: Mapping[str, str],
    lines: Mapping[str, Set[int]],
    baseline: Baseline,
    thresholds: Thresholds,
) -> Coverage | str:
    """Return which of the statements and branches on the lines of several files the tests reach."""
    statements: dict[str, bool] = {}
    branches: dict[str, bool] = {}
    for path, changed in sorted(lines.items()):
        reached, taken = baseline.reached.get(path, {}), baseline.branches.get(path, ())
        found = find_changed_statements(texts[path], changed)
        statements |= {f"{path}:{line}": line in reached for line in found}
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
    )


def find_changed_statements(text: str, changed: Set[int]) -> list[int]:
    """Return the lines on which the statements begin that have a changed line."""
    meaning = instrument_file(text)
    if meaning is None:
        return []
    ends = find_statement_ends(text)
    first = sorted(set(meaning.lines.values()))
    return [at for at in first if not changed.isdisjoint(range(at, ends.get(at, at) + 1))]
