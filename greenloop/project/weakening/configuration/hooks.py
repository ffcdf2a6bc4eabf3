"""Changes of lines that run a project's checks (CI, hooks), and of pytest hooks in a conftest."""

import ast
import re
from collections.abc import Iterator

from greenloop.project.weakening.configuration.settings import list_taking, split_words
from greenloop.project.weakening.machines import is_about_machine
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty

_CHECKING = re.compile(
    r"greenloop|pytest|--doctest-|\btest-cmd|\bauto-test|disableAllHooks|codex_hooks"
)
_INSTALLING = re.compile(
    r"\b(install|requires?|dependencies|uses)\b|pytest[\w-]* *[=<>~!]=|^(\[|addopts|pytest-[\w-]+$)"
)
_IDLE = re.compile(r"^#|\becho\b|--(version|help)\b")
# The lookahead leaves out a key of YAML or tox, such as `test: `.
_TEST_PATH = re.compile(r"[\w./-]*\btests?\b(?!: )[\w./:-]*|[\w./-]+\.py\b")
_SILENCING = re.compile(
    r"\|\| *(true|:|exit 0)|continue-on-error: *true|disableAllHooks|ignore_(outcome|errors) *= *true"
)
_DASHED = re.compile(
    r"(commands\S* *= *)?- *(coverage (run|report)|pytest|py\.test|python -m (pytest|unittest)|tox)\b"
)  # a leading `-` ignores failures in a Makefile and in tox; in YAML it is a list item
_OWN_HOOK = re.compile(r"greenloop gate --agent \w+ \|\| exit 0\b")  # written by `greenloop init`
# Hooks that can leave tests out, or change what they report.
_DECIDING_HOOK = re.compile(
    r"pytest_(runtest|pyfunc|exception|make|pycollect|collect|ignore|itemcollected|deselect"
    r"|report_(teststatus|to)|sessionfinish)"
)
_IGNORING = ("collect_ignore", "collect_ignore_glob", "pytest_plugins")


def compare_lines(path: str, before: str, after: str) -> Iterator[str]:
    """Yield a sentence for a removed line that ran a check, or a new line that ignores failures."""
    old, new = ([line.strip() for line in text.splitlines()] for text in (before, after))
    added = [line for line in new if line not in old]
    lost = (i for i in old if i not in new and _CHECKING.search(i) and not _INSTALLING.search(i))
    if gone := next((i for i in lost if not any(_checks_as_much(i, j) for j in added)), ""):
        yield f"{path}: `{gone[:100]}` is gone or was changed; it decides what is checked"
    else:
        yield from find_silenced(path, before, after)


def _checks_as_much(old: str, new: str) -> bool:
    """Return whether the new line runs pytest on at least the tests of the old line."""
    named, names = ({*_CHECKING.findall(line)} for line in (old, new))
    is_pytest = "pytest" in named <= names <= {"pytest", "--doctest-"}
    taken, more = (list_taking(split_words(re.sub(r"[\"',()\[\]]", " ", i))) for i in (old, new))
    before, now = ({i.strip("./") for i in _TEST_PATH.findall(line)} for line in (old, new))
    is_whole = not now or bool(before and before <= now) or (not before and "tests" in now)
    return is_pytest and {*more} <= {*taken} and is_whole and not _IDLE.search(new)


def find_silenced(path: str, before: str, after: str) -> Iterator[str]:
    """Yield a sentence for a new line that ignores the failure of a check."""
    old, new = ([line.strip() for line in text.splitlines()] for text in (before, after))
    is_list = path.endswith((".yaml", ".yml"))
    added = (line for line in new if line not in old)
    found = (
        line
        for line in added
        if _SILENCING.search(_OWN_HOOK.sub("", line)) or (not is_list and _DASHED.match(line))
    )
    if quiet := next(found, ""):
        yield f"{path}: `{quiet[:100]}` is new; a check that fails may go unnoticed"


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
    return {name: text for name, text in hooks.items() if _DECIDING_HOOK.match(name)} | kept


def _iter_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a file, and those inside an `if` that is not about the machine."""
    for node in body:
        if isinstance(node, ast.If) and not is_about_machine(node.test):
            yield from _iter_statements([*node.body, *node.orelse])
        else:
            yield node
