"""Tests for the prompts of a change: those related to it, and files as examples of style."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from greenloop.project.code_map.modules import split_words
from greenloop.records import Baseline
from greenloop.testsuite.parser import is_test_path
from greenloop.tools.shown_project import ShownFile, ShownTest, read_tests
from greenloop.workflow.change.shown.files import show_files

_MAX_TESTS_CHARS = 9_000
_MAX_STYLE_CHARS = 5_000  # of one test file
_STYLE_FILES = 2
_MIN_SHARE = 0.3  # of the weight of the most similar test
_WORD = re.compile(r"[A-Za-z_]\w*")


def select_tests(
    texts: Mapping[str, str], baseline: Baseline, paths: Iterable[str], wish: str
) -> tuple[list[ShownTest], int]:
    """Return locked tests of the files, most similar to the wish first, and the number left out.

    Shared words are weighted by their inverse frequency among the tests (IDF).
    """
    mapped = {
        test.partition("[")[0]
        for path in paths
        for tests in baseline.lines.get(path, {}).values()
        for test in tests
    }
    wanted = _list_words(wish)
    shared = {item: _list_words(item.source) & wanted for item in read_tests(texts, mapped)}
    spread = Counter(word for words in shared.values() for word in words)
    weights = {
        item: sum(math.log(len(shared) / spread[word]) for word in sorted(words))
        for item, words in shared.items()
    }
    least = _MIN_SHARE * max(weights.values(), default=0.0)
    shown: list[ShownTest] = []
    left = _MAX_TESTS_CHARS
    for item in sorted(shared, key=lambda item: (-weights[item], item.id)):
        if shared[item] and weights[item] >= least and len(item.source) <= left:
            shown.append(item)
            left -= len(item.source)
    return shown, len(shared) - len(shown)


def _list_words(text: str) -> set[str]:
    return {word for name in _WORD.findall(text) for word in (name, *split_words(name))}


def select_style_files(
    texts: Mapping[str, str], touches: Sequence[str], kept: Collection[str] = ()
) -> list[ShownFile]:
    """Return two test files as examples of style and a conftest file, each of limited length.

    Files named after a touched module come first, then files with `kept` tests (node ids), then
    files that use touched names most. Bodies are left out first, except those of `kept` tests.
    """
    tests = {path: text for path, text in texts.items() if is_test_path(path) and text.strip()}
    files = [path for path in tests if not path.endswith(("conftest.py", "__init__.py"))]
    ranked = sorted(files, key=lambda path: (*_rank_file(path, tests[path], touches, kept), path))
    shared = [path for path in sorted(tests) if path.endswith("conftest.py")][:1]
    names = {item.partition("[")[0].partition("::")[2].replace("::", ".") for item in kept}
    return [
        _truncate(*show_files(tests, [path], " ".join(touches), _MAX_STYLE_CHARS, names))
        for path in (*ranked[:_STYLE_FILES], *shared)
    ]


def _rank_file(
    path: str, text: str, touches: Sequence[str], kept: Collection[str]
) -> tuple[int, int]:
    """Return the sort key of a test file; the lowest ranks first."""
    parts = {part for name in touches for part in name.split(".")}
    stem = set(split_words(path.rpartition("/")[2].removesuffix(".py"))) - {"test"}
    matches = any(stem == set(split_words(part)) for part in parts)
    has_kept = any(item.partition("::")[0] == path for item in kept)
    used = sum(word in parts for word in _WORD.findall(text))
    return -2 * matches - has_kept, -used


def _truncate(file: ShownFile) -> ShownFile:
    if len(file.text) <= _MAX_STYLE_CHARS:
        return file
    whole = file.text[:_MAX_STYLE_CHARS].rpartition("\n")[0]
    more = file.text.count(chr(10), len(whole))
    return ShownFile(file.path, f"{whole}\n# … {more} more lines\n", file.left_out)
