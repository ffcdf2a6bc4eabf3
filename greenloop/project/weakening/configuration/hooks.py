"""Changes of lines that run a project's checks (CI, hooks), and of pytest hooks in a conftest."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from greenloop.project.weakening.configuration.settings import list_taking, split_words
from greenloop.project.weakening.machines import is_about_machine
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty

# Names of settings that make an agent's tool run a check, and commands that run tests.
_SWITCH = re.compile(r"greenloop|\btest-cmd|\bauto-test|disableAllHooks|codex_hooks")
_DOCTEST = "--doctest-"
_PYTEST = re.compile(rf"pytest|py\.test|{_DOCTEST}")
_RUNNER = re.compile(
    rf"{_PYTEST.pattern}|-m\W+unittest\b|(?<![\w./-])(tox|nox)(?![\w./:-])"
    r"|\bcoverage\W{1,4}(run|report)\b|\bmake (test|check)\b"
)
_INSTALLING = re.compile(
    r"\b(install|requires?|dependencies|uses)\b|pytest[\w-]* *[=<>~!]=|^(\[|addopts|pytest-[\w-]+$)"
    r"|^#|^(- )?name:|^import "
)
_MODULE = re.compile(r"[\"',()\[\]]|-m +(?=(pytest|unittest|coverage|tox|nox)\b)")
_IDLE = re.compile(r"^#|\becho\b|--(version|help)\b")
# The lookahead leaves out a key of YAML or tox, such as `test: `.
_TEST_PATH = re.compile(r"[\w./-]*\btests?\b(?!: )[\w./:-]*|[\w./-]+\.py\b")
_SILENCING = re.compile(r"\|\| *(true|:|exit 0)")  # of its line
_SILENCING_ALL = re.compile(  # of its step, job or section
    r"(continue-on-error|continueOnError|allow_failure): *true|ignore_(outcome|errors) *= *true"
)
_DASHED = re.compile(
    r"(commands\S* *= *)?- *(coverage (run|report)|pytest|py\.test|python -m (pytest|unittest)|tox)\b"
)  # a leading `-` ignores failures in a Makefile and in tox; in YAML it is a list item
# Options by which tox and nox run a part.
_PART = re.compile(r"-[eskm]|--(session|tag|keyword|label)")
_OWN_HOOK = re.compile(r"greenloop gate --agent \w+ \|\| exit 0\b")  # written by `greenloop init`
# Hooks that can leave tests out, or change what they report.
_DECIDING_HOOK = re.compile(
    r"pytest_(runtest|pyfunc|exception|make|pycollect|collect|ignore|itemcollected|deselect"
    r"|report_(teststatus|to)|sessionfinish)"
)
# What a hook at the end of a run needs, to change how it ends.
_ENDING = re.compile(r"[.'\"]exitstatus|exit\(")
_IGNORING = ("collect_ignore", "collect_ignore_glob", "pytest_plugins")


def compare_lines(path: str, before: str, after: str) -> Iterator[str]:
    """Yield a sentence for a removed line that ran a check, or a new line that ignores failures."""
    old, new = map(_list_lines, (before, after))
    added = [line for line in new if line not in old]
    lost = (i for i in old if i not in new and _is_check(i) and not _INSTALLING.search(i))
    if gone := next((i for i in lost if not any(_checks_as_much(i, j) for j in added)), ""):
        yield f"{path}: `{gone[:100]}` is gone or was changed; it decides what is checked"
    else:
        yield from find_silenced(path, before, after)


def _list_lines(text: str) -> list[str]:
    """Return the lines of a file without indentation, continued ones joined."""
    return [line.strip() for line in _join_lines(text)]


def _join_lines(text: str) -> list[str]:
    return re.sub(r"\\\n\s*", " ", text).splitlines()


def _is_check(line: str) -> bool:
    return _SWITCH.search(line) is not None or _RUNNER.search(line) is not None


def _checks_as_much(old: str, new: str) -> bool:
    """Return whether the new line runs at least the tests of the old line."""
    if _SWITCH.search(old) or _SWITCH.search(new) or _IDLE.search(new):
        return False
    named, names = ({*_PYTEST.findall(line)} for line in (old, new))
    if not names:
        return not named and _runs_as_much(old, new)
    taken, more = (list_taking(split_words(_MODULE.sub(" ", line))) for line in (old, new))
    before, now = ({i.strip("./") for i in _TEST_PATH.findall(line)} for line in (old, new))
    is_whole = not now or bool(before and before <= now) or (not before and "tests" in now)
    is_whole = is_whole and (named & {_DOCTEST}) <= names != {_DOCTEST}
    return is_whole and {*more} <= {*taken}


def _runs_as_much(old: str, new: str) -> bool:
    """Return whether the new line has the runner of the old one, with all of its words."""
    one, other = map(_RUNNER.search, (old, new))
    if one is None or other is None:
        return False
    words, more = ({*split_words(i.string[i.start() :])} for i in (one, other))
    return words <= more and not any(map(_PART.match, more - words))


def find_silenced(path: str, before: str, after: str) -> Iterator[str]:
    """Yield a sentence for a new line that ignores the failure of a check."""
    old, new = (Counter(_list_silencing(path, text)) for text in (before, after))
    for line in islice(new - old, 1):
        yield f"{path}: `{line[:100]}` is new; a check that fails may go unnoticed"


def _list_silencing(path: str, text: str) -> Iterator[str]:
    """Yield the lines that ignore the failure of a check."""
    is_list = path.endswith((".yaml", ".yml"))
    lines = _join_lines(text)
    for number, line in enumerate(lines):
        said = _OWN_HOOK.sub("", line.strip())
        if (
            "disableAllHooks" in said
            or (_SILENCING.search(said) and _is_check(said))
            or (_SILENCING_ALL.search(said) and _has_check(lines, number))
            or (not is_list and _DASHED.match(said))
        ):
            yield line.strip()


def _has_check(lines: list[str], number: int) -> bool:
    """Return whether the step, job or section of a line runs a check."""
    depth = _measure_depth(lines[number])
    first = last = number
    while first > 0 and not _ends(lines[first], depth) and _is_inside(lines[first - 1], depth):
        first -= 1
    while last + 1 < len(lines) and not _ends(lines[last + 1], depth):
        if not _is_inside(lines[last + 1], depth):
            break
        last += 1
    return any(map(_is_check, lines[first : last + 1]))


def _measure_depth(line: str) -> int:
    """Return the column of a line's first word, behind the dashes of a list."""
    return len(line) - len(line.lstrip(" \t-"))


def _is_inside(line: str, depth: int) -> bool:
    return not line.strip() or _measure_depth(line) >= depth


def _ends(line: str, depth: int) -> bool:
    """Return whether a line begins an item of a list at this depth, or a section."""
    return line.startswith("[") or (line.lstrip().startswith("-") and _measure_depth(line) == depth)


def compare_hooks(path: str, before: str, after: str) -> Iterator[str]:
    """Yield a sentence for each new or changed hook or ignore list of a conftest."""
    old, new = (_list_hooks(text) for text in (before, after))
    for name, text in new.items():
        if old.get(name) != text:
            word = "was changed" if name in old else "is new"
            yield f"{path}: {name} {word}; it can change which tests run, and what they report"


def _list_hooks(text: str) -> dict[str, str]:
    nodes = list(_iter_statements(parse_or_empty(text).body))
    hooks = {n.name: ast.unparse(n) for n in nodes if isinstance(n, Function)}
    texts = (ast.unparse(n) for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign, ast.Expr)))
    kept = {
        text: text for text in texts if text.startswith(_IGNORING) and not text.endswith("= []")
    }
    ending = "pytest_sessionfinish"
    found = {name: text for name, text in hooks.items() if _DECIDING_HOOK.match(name)}
    return {i: text for i, text in found.items() if i != ending or _ENDING.search(text)} | kept


def _iter_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a file, and those inside an `if` that is not about the machine."""
    for node in body:
        if isinstance(node, ast.If) and not is_about_machine(node.test):
            yield from _iter_statements([*node.body, *node.orelse])
        else:
            yield node
