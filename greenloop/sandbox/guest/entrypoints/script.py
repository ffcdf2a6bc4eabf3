"""Entry point of a script: runs it as `python NAME ARGUMENTS` would, and reports its exception.

The exception is reported three times, with more details each time. Details that the script can
influence come last.
"""

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
from ..isolation.program import open_streams
from ..protocol.framing import Channel
from ..scripts import loaded_modules
from ..scripts.exception_report import report_exception

_INTERRUPTED_STATUS = 130
_FLUSH_FAILED_STATUS = 120


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the job's script, and exit as Python would."""
    os._exit(_run_job(job, result_fd))  # the script may have closed the streams


def _run_job(job: dict[str, Any], result_fd: int) -> int:
    channel, process = Channel(result_fd, job.pop("key")), os.getpid()
    _redirect_stdin(stdin_path(os.environ["TMPDIR"]))
    open_streams()
    faulthandler.disable()  # stack dumps on request still work
    path = os.path.join(job["work"], job["name"])
    loaded_modules.hide_preloaded_modules(os.path.dirname(path))
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
    file = os.open(path, os.O_RDONLY)
    os.unlink(path)
    os.dup2(file, 0)
    os.close(file)


def _execute_script(path: str, arguments: list[str]) -> BaseException | None:
    """Run the script; return the exception that ended it (traceback from the script on) or None."""
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
        trace = error.__traceback__
        return error.with_traceback(trace.tb_next if trace else None)
    return None


def _install_site_builtins() -> None:
    """Install `exit`, `quit`, `help` and others: sandboxes start Python without `site`."""
    for install in (site.setquit, site.setcopyright, site.sethelper):
        install()


def _resolve_exit_status(error: BaseException | None) -> int:
    """Return the status that Python would exit with; print an exit message as Python does."""
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
    """Print the traceback by `sys.excepthook`, which the script may have replaced."""
    details = type(error), error, error.__traceback__
    try:
        sys.excepthook(*details)
    except BaseException:
        sys.__excepthook__(*details)


def _finalize(status: int) -> int:
    """Do what Python does at exit: join threads, call exit functions, flush buffers."""
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
