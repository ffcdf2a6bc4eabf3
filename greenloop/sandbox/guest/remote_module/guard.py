"""What the tests' process does not do, so that nothing of the code under test ever runs in it.

Their text is honest, but it may bring text of the code to life: `eval(repr(thing))`, a doctest, a
pickle from a shared folder, a script that is started. Such tests do not run apart from the code.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .errors import CannotSplit

if TYPE_CHECKING:
    import doctest

_PROCESSES = frozenset(
    "subprocess.Popen os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn pty.spawn".split()
)
_LOADED = frozenset({"pickle.find_class", "marshal.loads", "ctypes.dlopen", "code.__new__"})
_HARMLESS = frozenset(
    "builtins collections datetime decimal fractions uuid pathlib copyreg".split()
)
_FROM_TEXT = frozenset({"doctest", "timeit", "runpy", "code", "codeop", "typing", "pdb", "bdb"})


def keep(work: str, texts: Iterable[str]) -> Callable[[], None]:
    """From now on. What is returned switches it on: before, pytest itself may do as it likes."""
    on: list[bool] = []
    own = _OwnText(texts)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if on and event in _EVENTS:
            _EVENTS[event](event, arguments, work)
            if event in ("compile", "exec"):
                own.check(event, arguments)

    sys.addaudithook(hook)
    return lambda: on.append(True)


def _no_process(event: str, arguments: tuple[Any, ...], work: str) -> None:
    raise CannotSplit(f"the test starts a process ({event})")


def _no_loading(event: str, arguments: tuple[Any, ...], work: str) -> None:
    if event == "pickle.find_class" and str(arguments[0]).partition(".")[0] in _HARMLESS:
        return
    if event == "code.__new__" and not _asked_by(work):
        return
    if event != "marshal.loads":
        raise CannotSplit(f"the test brings code to life from data ({event})")


def _no_text(event: str, arguments: tuple[Any, ...], work: str) -> None:
    """Compiling alone does nothing yet, and `typing` does it to every quoted name."""
    if _asked_by(work):
        raise CannotSplit("the test evaluates text as code")


def _asked_by(work: str) -> bool:
    """Whether a test file is what calls."""
    return sys._getframe(3).f_code.co_filename.startswith(work)


class _OwnText:
    """Libraries that run text (doctest, typing …) may do so with text that stands in the tests."""

    def __init__(self, texts: Iterable[str]) -> None:
        import doctest

        constants = {
            node.value
            for text in texts
            for node in ast.walk(_parsed(text))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        parser = doctest.DocTestParser()
        examples = {
            item.source for text in constants if ">>>" in text for item in _examples(parser, text)
        }
        self._known = constants | examples
        self._compiled: set[tuple[str, str]] = set()

    def check(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raises CannotSplit where a library is about to run other text."""
        name = str(sys._getframe(2).f_globals.get("__name__", "")).partition(".")[0]
        if name not in _FROM_TEXT:
            return
        if event == "compile":
            source = arguments[0]
            if isinstance(source, bytes):  # which of both depends on how it was called
                source = source.decode("utf-8", "replace")
            if source in self._known:
                self._compiled.add((name, str(arguments[1])))
        elif (name, arguments[0].co_filename) not in self._compiled:
            raise CannotSplit("text of the code under test would be run as code")


def _parsed(text: str) -> ast.AST:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _examples(parser: doctest.DocTestParser, text: str) -> list[doctest.Example]:
    try:
        return parser.get_examples(text)
    except ValueError:
        return []


_EVENTS: dict[str, Callable[[str, tuple[Any, ...], str], None]] = {
    **dict.fromkeys(_PROCESSES, _no_process),
    **dict.fromkeys(_LOADED, _no_loading),
    "compile": _no_text,
    "exec": _no_text,
}
