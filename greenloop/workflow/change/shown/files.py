"""Files as prompts show them: whole, or without the parts that are least related to a text."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from greenloop.project.code_map.index import build_index
from greenloop.project.code_map.ranking import rank
from greenloop.syntax.nodes import Function, get_assigned_targets
from greenloop.syntax.parse import parse_or_empty
from greenloop.tools.shown_project import ShownFile

MAX_FILES_CHARS = 28_000  # of all files of a prompt: about 7,000 tokens
_MIN_LINES = 6  # a shorter body, docstring or table is never left out
_COMMENTS = re.compile(rf"^(?:#.*\n){{{_MIN_LINES},}}", re.MULTILINE)


@dataclass(frozen=True)
class _Cut:
    """Lines of a file (from 0) that may be left out: bodies last, low weights first."""

    path: str
    lines: range
    mark: str
    is_body: bool = False
    weight: float = 0.0


def show_files(
    texts: Mapping[str, str],
    paths: Sequence[str],
    about: str,
    limit: int = MAX_FILES_CHARS,
    touches: Collection[str] = (),
) -> list[ShownFile]:
    """Return files as prompts show them: whole, or without some parts if they are too large.

    Docstrings, comments and tables are left out before bodies, and in each group the parts that are
    least related to the text `about`, until `limit` characters are left. Definitions that use names
    of `touches` go last in their group; the definitions named there are never left out.
    """
    found = {path: texts[path].split("\n") for path in paths if path in texts}
    excess = sum(len(texts[path]) for path in found) - limit
    cuts = _list_cuts({path: texts[path] for path in found}, about, touches) if excess > 0 else []
    shown: dict[str, list[str | None]] = {path: list(lines) for path, lines in found.items()}
    bodies = dict.fromkeys(found, 0)
    for cut in sorted(cuts, key=lambda item: (item.is_body, item.weight, -len(item.lines))):
        if excess <= 0:
            break
        first, last = cut.lines.start, cut.lines.stop
        mark = f"{cut.mark}{len(cut.lines)} lines are left out"
        excess -= sum(len(line) + 1 for line in found[cut.path][first:last]) - len(mark) - 1
        shown[cut.path][first:last] = [mark, *[None] * (last - first - 1)]
        bodies[cut.path] += cut.is_body
    return [
        ShownFile(path, "\n".join(line for line in lines if line is not None), bodies[path])
        for path, lines in shown.items()
    ]


def _list_cuts(texts: Mapping[str, str], about: str, touches: Collection[str]) -> list[_Cut]:
    index = build_index(texts)
    weights = dict(rank(index, " ".join((about, *touches))).definitions)
    touched = {key for key in index.definitions if _is_named(key[1], touches)}
    for reader in {reader for key in touched for reader in index.readers.get(key, ())}:
        weights[reader] += 1  # above every weight of the ranking
    cuts = []
    for path, text in texts.items():
        for block in _COMMENTS.finditer(text):
            first = text.count("\n", 0, block.start())
            cuts.append(_Cut(path, range(first, first + block[0].count("\n")), "# … "))
        for name, node in _list_parts(parse_or_empty(text), ""):
            if not name or (path, name) not in touched:
                cuts += _cut_part(path, node, weights.get((path, name), 0.0))
    return [cut for cut in cuts if len(cut.lines) >= _MIN_LINES]


def _is_named(name: str, touches: Collection[str]) -> bool:
    return any(item == name or item.endswith(f".{name}") for item in touches)


def _list_parts(
    node: ast.Module | ast.stmt, prefix: str
) -> Iterator[tuple[str, ast.Module | ast.stmt]]:
    """Yield qualified name and node of what is outside functions; '' without a name."""
    own = getattr(node, "name", "")  # None for `except X:`
    name = prefix + (own or "")
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        name = prefix + ast.unparse(get_assigned_targets(node)[0])
    yield name, node
    inner = f"{name}." if isinstance(node, ast.ClassDef) else prefix
    for item in [] if isinstance(node, Function) else ast.iter_child_nodes(node):
        if isinstance(item, (ast.stmt, ast.ExceptHandler)):
            yield from _list_parts(item, inner)  # type: ignore[arg-type]


def _cut_part(path: str, node: ast.Module | ast.stmt, weight: float) -> Iterator[_Cut]:
    """Yield the lines of a docstring, a body or a table that may be left out."""
    body, docs = getattr(node, "body", [])[:], []
    if isinstance(node, (ast.Module, ast.ClassDef, Function)) and ast.get_docstring(node):
        docs = [body.pop(0)]
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        docs = [node]
    for item in docs:
        lines = range(item.lineno, (item.end_lineno or 0) - 1)
        yield _Cut(path, lines, " " * item.col_offset + "… ", weight=weight)
    if isinstance(node, Function) and body:
        lines = range(body[0].lineno - 1, node.end_lineno or 0)
        mark = " " * body[0].col_offset + "...  # "
        yield _Cut(path, lines, mark, is_body=True, weight=weight)
