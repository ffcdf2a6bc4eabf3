"""Detection of lookups that observed code makes about the machine and its callers.

A sandbox differs from other machines: it has other files, programs, processes, mounts and networks,
and the observer is above the code on the stack. So answers of code after such a lookup prove
nothing about its answers elsewhere. Audit events of the interpreter reveal lookups, under whatever
name the code calls a function; functions for the status of a file have no event and are wrapped.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import FrameType
from typing import Any

_FILE_EVENTS = frozenset({"open", "os.listdir", "os.scandir"})
_PROGRAM_EVENTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"})
_STATUS_EVENT = "status"  # of these functions, which have no audit event
_STATUS_FUNCTIONS = ("stat", "lstat", "access", "fstat")
_ADDRESS_EVENTS = {"socket.connect": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
# Only calls by the code itself count, because the standard library reads frames as well.
_FRAME_EVENTS = frozenset(
    {"sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile"}
)
_OBJECT_EVENTS = frozenset({"gc.get_objects", "gc.get_referrers"})
_EVENTS = (
    _FILE_EVENTS
    | _PROGRAM_EVENTS
    | _ADDRESS_EVENTS.keys()
    | _FRAME_EVENTS
    | _OBJECT_EVENTS
    | {_STATUS_EVENT}
)
# Below these folders a sandbox is like other machines; elsewhere, and at the top, it is not.
_USUAL_FOLDERS = frozenset("tmp usr lib lib32 lib64 libx32 bin sbin dev".split())
# Modules that read paths of their own, such as that of the time zones; `importlib` also calls
# modules of the library that do so when they are imported.
_MODULES_WITH_PATHS = frozenset(
    "mimetypes zoneinfo ssl tempfile gettext importlib locale linecache inspect".split()
)
_PATH_MODULES = frozenset({"genericpath", "posixpath", "pathlib", "glob"})
# Functions that look up the path that they are given, not the working folder.
_WALKS = frozenset("makedirs _joinrealpath realpath select_from glob rglob _iglob".split())
_LOCAL_HOSTS = frozenset({"", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"})
# References to what the code may replace.
_abspath, _getframe, _fsdecode = os.path.abspath, sys._getframe, os.fsdecode
_find, _escape = re.search, re.escape
_GUEST = __name__.partition(".")[0]


class Surroundings:
    """Record of lookups by the code: `found` describes the first since the start of a row or, while
    there is none, an earlier one; '' for none. `is_earlier`: there was only an earlier one.
    """

    def __init__(self, module: str, given: str = "", folder: str = "") -> None:
        """`given` is the text of the programs; to start an executable that it names is allowed.

        `folder` is that of the code, '' for the working folder.
        """
        self._earlier, self._latest, self._module, self._given = "", "", module, given
        self._home = os.path.expanduser("~")  # empty in the sandbox
        self._own_file = os.path.abspath(type(self)._audit.__code__.co_filename)
        self._folder = f"{folder or os.getcwd()}/"
        roots = {f"{path}/" for path in (sys.prefix, sys.base_prefix, *sys.path)}
        # An environment may lie in the folder of the code.
        self._environment = f"{sys.prefix}/" if f"{sys.prefix}/" != self._folder else "\0"
        own = tuple(path for path in roots if path.startswith(self._folder))
        self._interpreter = tuple(roots.difference(own) | {self._environment})
        sys.addaudithook(self._audit)
        for name in _STATUS_FUNCTIONS:
            self._watch(name)

    @property
    def found(self) -> str:
        return self._latest or self._earlier

    @property
    def is_earlier(self) -> bool:
        return bool(self._earlier and not self._latest)

    def begin_row(self) -> None:
        """Watch for a lookup of the next row; one before the first row counts for all rows."""
        self._earlier, self._latest = self.found, ""

    def _watch(self, name: str) -> None:
        original: Callable[..., Any] = getattr(os, name)

        @wraps(original)
        def watched(path: Any, *arguments: Any, **named: Any) -> Any:
            self._audit(_STATUS_EVENT, (path,))
            return original(path, *arguments, **named)

        setattr(os, name, watched)
        for functions in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if original in functions:
                functions.add(watched)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS or self._latest:  # quick, because even `id()` has an event
            return
        try:
            self._latest = self._describe(event, arguments)
        except BaseException:  # no error here may reach the code
            return

    def _describe(self, event: str, arguments: tuple[Any, ...]) -> str:
        if event in _FILE_EVENTS:
            return self._describe_path(arguments[0])
        if event == _STATUS_EVENT:
            return self._describe_status(arguments[0])
        if event in _PROGRAM_EVENTS:
            return self._describe_program(arguments[0])
        if event in _ADDRESS_EVENTS:
            return _describe_address(arguments[_ADDRESS_EVENTS[event]])
        if event in _OBJECT_EVENTS:
            return "all objects"
        return "its callers" if self._is_of_code(_getframe(2)) else ""

    def _describe_status(self, path: Any) -> str:
        if type(path) is int or f"{_abspath(_fsdecode(path))}/" != self._folder:
            return self._describe_path(path)
        asking = next(self._list_callers(), "")
        return "" if asking in {*_WALKS, "importlib"} else "the working folder"

    def _describe_path(self, path: Any) -> str:
        if type(path) is int:
            return "its standard streams" if path in range(3) else ""
        full = _abspath(_fsdecode(path))
        if full == self._home:
            return "the home folder"
        if full == self._own_file:  # read for the traceback of an error that passed `watched`
            return "its callers"
        known = (self._folder, *self._interpreter)
        if full.split("/")[1] in _USUAL_FOLDERS or f"{full}/".startswith(known):
            return ""
        return "" if _MODULES_WITH_PATHS.intersection(self._list_callers()) else full

    def _describe_program(self, program: Any) -> str:
        """Describe an executable that the text of the programs does not name; '' for others."""
        if "ctypes" in self._list_callers():  # it asks for the file of a shared library
            return ""
        words = _fsdecode(program).split()
        name = words[0].rpartition("/")[2] if words else ""
        given = "executable" if words[:1] == [sys.executable] else name
        return (
            "" if _find(rf"(?<!\w){_escape(given)}(?!\w)", self._given) else f"the program {name}"
        )

    def _list_callers(self) -> Iterator[str]:
        """Yield the library's packages that the code called; of functions in `_WALKS`, their names.

        Modules that only parse paths are left out, and so is the guest, which may be installed
        beside the library. Code may rename its module, so its functions are recognized by their
        files.
        """
        frame: FrameType | None = _getframe(2)
        while frame is not None and not self._is_of_code(frame):
            name, function = str(frame.f_globals.get("__name__")), frame.f_code.co_name
            is_of_library = frame.f_code.co_filename.startswith(("<frozen ", *self._interpreter))
            if is_of_library and function in _WALKS:
                yield function
            elif is_of_library and name not in _PATH_MODULES and name.partition(".")[0] != _GUEST:
                yield name.partition(".")[0]
            frame = frame.f_back

    def _is_of_code(self, frame: FrameType) -> bool:
        file = frame.f_code.co_filename
        is_own = file.startswith(self._folder) and not file.startswith(self._environment)
        return is_own or file == f"{self._module}.py"


def _describe_address(address: Any) -> str:
    host = address[0] if type(address) is tuple and address else address
    if type(host) is bytes:
        host = _fsdecode(host)
    is_local = type(host) is not str or host in _LOCAL_HOSTS or host.startswith("127.")
    return "" if is_local else "the network"
