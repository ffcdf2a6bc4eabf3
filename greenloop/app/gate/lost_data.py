"""Findings on test data that was removed: unchanged tests that loop over it check less."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from greenloop.app.tests_before import list_helping
from greenloop.project.diff import ProjectDiff
from greenloop.records import BaselineResult
from greenloop.syntax.parse import parse_or_empty

_LISTING = re.compile(r"\b(r?i?glob|iterdir|listdir|scandir|walk)\(")
_WORD = re.compile(r"\w+")


def list_lost_data(known: BaselineResult, diff: ProjectDiff) -> Iterator[str]:
    """Yield a line for each data file that lost words and that passing earlier tests read.

    Nothing is yielded unless the data files together lost more words than they gained.
    """
    files, texts = diff.tree.project.all_files, diff.tree.texts
    now = {path: files[path].decode("utf-8", "replace") for path in diff.data if path in files}
    old = {path: text or "" for path, text in diff.data.items()}
    for path in list_helping(diff):
        tables, old_tables = (_read_tables(i) for i in (texts.get(path), diff.before[path]))
        literal = (i for name, i in old_tables.items() if tables.get(name, "") is not None)
        old[path], now[path] = ("\n".join(filter(None, i)) for i in (literal, tables.values()))
    words = [Counter(_WORD.findall("\n".join(i.values()))) for i in (old, now)]
    if (words[0] - words[1]).total() <= (words[1] - words[0]).total():
        return
    passing, failing = (
        {test.partition("::")[0] for test in tests} for tests in (known.compared, known.outdated)
    )
    held = passing - failing
    readers = [text for path, text in texts.items() if path in held]
    for path, text in old.items():
        is_less = len(_WORD.findall(text)) > len(_WORD.findall(now.get(path, "")))
        if is_less and any(_reads(reader, path) for reader in readers):
            word = "has less data than before" if path in {*files, *texts} else "is gone"
            yield f"{path} {word}; the tests also pass with the data that is gone: restore it"


def _read_tables(code: str | None) -> dict[str, str | None]:
    """Return the constants in each collection at the top level of a module, None if computed."""
    found = {}
    for node in parse_or_empty(code or "").body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.expr() as value):
                found[name] = _read_constants(value)
            case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
                found[name] = _read_constants(value)
    return found


def _read_constants(table: ast.expr) -> str | None:
    if not isinstance(table, (ast.List, ast.Tuple, ast.Dict, ast.Set)):
        return None
    constants = (item for item in ast.walk(table) if isinstance(item, ast.Constant))
    return "\n".join(str(item.value) for item in constants)


def _reads(text: str, path: str) -> bool:
    """Return whether a test names a data file, or lists one of its folders."""
    *folders, name = path.removesuffix(".py").split("/")
    parts = {*folders} - {"test", "tests"}
    is_listed = _LISTING.search(text) and any(part in text for part in parts)
    return name in text or bool(is_listed)
