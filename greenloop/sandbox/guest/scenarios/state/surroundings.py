"""What observed code looks up of the machine and of its callers, by the interpreter's audit events.

A sandbox is unlike other machines: it has other processes, mounts and networks, and its observer is
above the code on the stack. What code answers after it has looked there proves nothing of what it
answers elsewhere, by whatever names it has found the function that looks.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_FILE_EVENTS = frozenset({"open", "os.listdir", "os.scandir"})
_ADDRESS_EVENTS = {"socket.connect": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
# Of these only a call by the code itself counts: the standard library reads frames as well.
_FRAME_EVENTS = frozenset(
    {"sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile"}
)
_OBJECT_EVENTS = frozenset({"gc.get_objects", "gc.get_referrers"})
_EVENTS = _FILE_EVENTS | _ADDRESS_EVENTS.keys() | _FRAME_EVENTS | _OBJECT_EVENTS
_KERNEL_FOLDERS = ("/proc/", "/sys/")
_TOP_FOLDERS = frozenset({"/", "/opt", "/proc", "/sys"})
_LOCAL_HOSTS = frozenset({"", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"})
# References to what the code may replace.
_abspath, _getframe, _fsdecode = os.path.abspath, sys._getframe, os.fsdecode


class Surroundings:
    """Notes the first thing that code looks up; `found` is '' while there is none."""

    def __init__(self, module: str) -> None:
        self.found, self._module = "", module
        self._home = os.path.expanduser("~")  # that of the sandbox is empty
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS or self.found:  # there are events of each `id()`
            return
        try:
            self.found = self._describe(event, arguments)
        except BaseException:  # nothing of this may reach the code
            return

    def _describe(self, event: str, arguments: tuple[Any, ...]) -> str:
        if event in _FILE_EVENTS:
            return self._describe_path(arguments[0])
        if event in _ADDRESS_EVENTS:
            return _describe_address(arguments[_ADDRESS_EVENTS[event]])
        if event in _OBJECT_EVENTS:
            return "all objects"
        if event in _FRAME_EVENTS and _getframe(2).f_globals.get("__name__") == self._module:
            return "its callers"
        return ""

    def _describe_path(self, path: Any) -> str:
        if type(path) not in (str, bytes):
            return ""
        full = _abspath(_fsdecode(path))
        if full == self._home:
            return "the home folder"
        return full if full in _TOP_FOLDERS or full.startswith(_KERNEL_FOLDERS) else ""


def _describe_address(address: Any) -> str:
    host = address[0] if type(address) is tuple and address else address
    if type(host) is bytes:
        host = _fsdecode(host)
    is_local = type(host) is not str or host in _LOCAL_HOSTS or host.startswith("127.")
    return "" if is_local else "the network"
