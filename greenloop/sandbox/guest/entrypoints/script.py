"""Runs a script as `python NAME ARGUMENTS` would, and tells of the exception that ended it.

The exit status and the output are those of the process; the account of the exception comes over the
result channel, three times with more in it each time: what is only foreign code's to say comes last.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import os
import signal
import site
import sys
import threading
import types
from importlib.machinery import SourceFileLoader
from typing import Any

from ..files.writer import stdin_path
from ..protocol.channel import Channel
from ..scripts import module_cleanup
from ..scripts.exception_report import report_exception

_INTERRUPTED_STATUS = 130
_FLUSH_FAILED_STATUS = 120


def main(job: dict[str, Any], handle: int) -> int:
    """Runs the job's script, and ends this process as Python would."""
    os._exit(_run_job(job, handle))  # whoever comes after this would miss closed streams


def _run_job(job: dict[str, Any], handle: int) -> int:
    channel, process = Channel(handle, job.pop("key")), os.getpid()
    _redirect_stdin(stdin_path(os.environ["TMPDIR"]))
    _open_streams()
    faulthandler.disable()  # who asks where it is, is still answered
    path = os.path.join(job["work"], job["name"])
    module_cleanup.hide_preloaded_modules(os.path.dirname(path))
    error = _execute_script(path, [job["name"], *job["arguments"]])
    status = _resolve_exit_status(error)
    if error is not None and not isinstance(error, SystemExit):
        _print_traceback(error)
        if os.getpid() == process:
            report_exception(error, channel, job["work"] + os.sep)
    status = _finalize(status)
    if isinstance(error, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return status


def _redirect_stdin(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    os.unlink(path)
    os.dup2(handle, 0)
    os.close(handle)


def _open_streams() -> None:
    """As Python opens them; but each line is written at once, so that it is there in a run that is
    ended from outside.
    """
    sys.stdin = sys.__stdin__ = _open_stream(0, "r", "surrogateescape")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _open_stream(1, "w", "surrogateescape")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _open_stream(2, "w", "backslashreplace")  # type: ignore[misc]


def _open_stream(number: int, mode: str, errors: str) -> Any:
    stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
    if mode == "w":
        stream.reconfigure(line_buffering=True)  # type: ignore[attr-defined]
    return stream


def _execute_script(path: str, arguments: list[str]) -> BaseException | None:
    """The exception that ended it, with its traceback from the script on; None where it just ended."""
    _install_site_builtins()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module = types.ModuleType("__main__")
    names = vars(module)
    names.update(__file__=path, __cached__=None, __builtins__=sys.modules["builtins"])
    names.update(__loader__=SourceFileLoader("__main__", path))
    sys.modules["__main__"], sys.argv = module, arguments
    sys.path.insert(0, os.path.dirname(path))
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, names)
    except BaseException as error:
        above = error.__traceback__
        return error.with_traceback(above.tb_next if above else None)
    return None


def _install_site_builtins() -> None:
    """`exit`, `quit`, `help` and the like: behind a wall Python starts without `site`."""
    for give in (site.setquit, site.setcopyright, site.sethelper):
        give()


def _resolve_exit_status(error: BaseException | None) -> int:
    """What Python would end with; a text is written as Python does it."""
    if error is None:
        return 0
    if not isinstance(error, SystemExit):
        return _INTERRUPTED_STATUS if isinstance(error, KeyboardInterrupt) else 1
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    with contextlib.suppress(BaseException):
        sys.stderr.write(f"{error.code}\n")
    return 1


def _print_traceback(error: BaseException) -> None:
    """The traceback, by whatever the script has put in the place of Python's own way."""
    told = type(error), error, error.__traceback__
    try:
        sys.excepthook(*told)
    except BaseException:
        sys.__excepthook__(*told)


def _finalize(status: int) -> int:
    """What Python does at the end: waits for threads, calls what was registered, empties buffers."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
    except BaseException as error:
        _print_traceback(error)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            status = status or _FLUSH_FAILED_STATUS
    return status
