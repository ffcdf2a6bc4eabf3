"""Findings on test data that was removed: unchanged tests that loop over it check less."""

import re
from collections import Counter
from collections.abc import Iterator

from greenloop.project.diff import ProjectDiff
from greenloop.records import BaselineResult

_LISTING = re.compile(r"\b(r?i?glob|iterdir|listdir|scandir|walk)\(")
_WORD = re.compile(r"\w+")


def list_lost_data(known: BaselineResult, diff: ProjectDiff) -> Iterator[str]:
    """Yield a line for each data file that lost words and that passing earlier tests read.

    Nothing is yielded unless the data files together lost more words than they gained.
    """
    files = diff.tree.project.all_files
    now = {path: files[path].decode("utf-8", "replace") for path in diff.data if path in files}
    old = {path: text or "" for path, text in diff.data.items()}
    words = [Counter(_WORD.findall("\n".join(i.values()))) for i in (old, now)]
    if (words[0] - words[1]).total() <= (words[1] - words[0]).total():
        return
    passing, failing = (
        {test.partition("::")[0] for test in tests} for tests in (known.compared, known.outdated)
    )
    held = passing - failing
    readers = [text for path, text in diff.tree.texts.items() if path in held]
    for path, text in old.items():
        is_less = len(_WORD.findall(text)) > len(_WORD.findall(now.get(path, "")))
        if is_less and any(_reads(reader, path) for reader in readers):
            word = "has less data than before" if path in now else "is gone"
            yield f"{path} {word}; the tests also pass with the data that is gone: restore it"


def _reads(text: str, path: str) -> bool:
    """Return whether a test names a data file, or lists one of its folders."""
    *folders, name = path.split("/")
    parts = {*folders} - {"test", "tests"}
    is_listed = _LISTING.search(text) and any(part in text for part in parts)
    return name in text or bool(is_listed)
