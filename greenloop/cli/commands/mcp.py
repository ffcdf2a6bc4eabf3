"""The command `mcp`: an MCP server on standard input and output, or on loopback HTTP."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any

from greenloop.cli.options.settings import load_settings
from greenloop.cli.options.tools import McpOptions
from greenloop.cli.process import print_error
from greenloop.errors import InputError, InterruptedRunError
from greenloop.integrations.service import AgentService
from greenloop.settings import Settings
from greenloop.tracing.setup import open_tracing
from greenloop.versions import format_install_command

_LOOPBACK_ADDRESS, _LISTEN_BACKLOG, _SHUTDOWN_TIMEOUT_SECONDS = "127.0.0.1", 128, 5


def mcp_command(options: McpOptions) -> int:
    """Run `greenloop mcp` until the client disconnects; return the exit status."""
    asyncio.run(_serve(load_settings(options), options))
    return 0


async def _serve(settings: Settings, options: McpOptions) -> None:
    """Serve until the client disconnects. Raises InputError if the server cannot start."""
    try:
        from greenloop.integrations.mcp.tools import build_server
        from greenloop.integrations.task_group import RunTaskGroup
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise InputError(
            f"greenloop mcp needs a package that is missing: {format_install_command('mcp')}"
        ) from None
    logging.getLogger("langsmith").propagate = False  # its error messages contain a part of the key
    listener = _open_socket(options.port) if options.http else None
    if listener is None and sys.stdin.isatty():
        print_error("mcp: waiting for a client on standard input; see --http for a network port")
    runs = RunTaskGroup()
    with closing(AgentService(settings, tracing=open_tracing())) as service:
        _install_signal_handlers(runs.stop, service)
        server = build_server(service, runs)
        await (_serve_stdio(server) if listener is None else _serve_http(server, listener))


def _install_signal_handlers(stop: Callable[[], Any], service: AgentService) -> None:
    """Stop active runs at the first SIGINT or SIGTERM, and exit at the second.

    The process exits by `os._exit`, because a blocking read of standard input cannot be cancelled.
    """
    loop = asyncio.get_running_loop()
    ending: list[asyncio.Future[None]] = []

    async def end() -> None:
        await stop()
        service.close()
        _exit_immediately()

    def on_signal() -> None:
        if ending:
            _exit_immediately()
        ending.append(asyncio.ensure_future(end()))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)


def _exit_immediately() -> None:
    sys.stderr.flush()
    os._exit(InterruptedRunError.exit_status)


def _open_socket(port: int) -> socket.socket:
    """Return a listening socket on the loopback address. Raises InputError if the port is taken."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK_ADDRESS, port))
        listener.listen(_LISTEN_BACKLOG)
    except OSError as error:
        listener.close()
        raise InputError(f"--port {port}: {error.strerror or error}") from None
    return listener


async def _serve_stdio(server: Any) -> None:
    """Serve until the client closes standard input, or its process ends."""
    try:
        await server.run_stdio_async()
    except Exception as error:
        if not _is_broken_pipe(error):
            raise


def _is_broken_pipe(error: BaseException) -> bool:
    """Return whether an error only means that the client no longer reads answers."""
    inner = getattr(error, "exceptions", None) or ()
    return isinstance(error, BrokenPipeError) or (bool(inner) and all(map(_is_broken_pipe, inner)))


async def _serve_http(server: Any, listener: socket.socket) -> None:
    """Serve streamable HTTP. Hosts and origins other than this machine are refused, which stops
    web pages that resolve their own name to this machine (DNS rebinding)."""
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    port = listener.getsockname()[1]
    here = [f"{name}:{port}" for name in (_LOOPBACK_ADDRESS, "localhost")]
    security = TransportSecuritySettings(
        allowed_hosts=here, allowed_origins=[f"http://{name}" for name in here]
    )
    app = server.streamable_http_app(host=_LOOPBACK_ADDRESS, transport_security=security)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT_SECONDS
    )
    print(
        f"greenloop: serving MCP at http://{_LOOPBACK_ADDRESS}:{port}/mcp",
        file=sys.stderr,
        flush=True,
    )
    await uvicorn.Server(config).serve(sockets=[listener])
