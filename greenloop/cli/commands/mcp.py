"""`greenloop mcp`: serves one host over standard input and output, or several over loopback HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from greenloop.cli.process import print_error
from greenloop.errors import GreenloopError, InputError, InterruptedRunError
from greenloop.integrations.service import AgentService
from greenloop.settings import Settings
from greenloop.tracing.setup import open_tracing

_LOOPBACK_ADDRESS, _LISTEN_BACKLOG, _SHUTDOWN_TIMEOUT_SECONDS = "127.0.0.1", 128, 5


@dataclass(frozen=True)
class ServeOptions:
    """How hosts reach the server. `port` 0: a free one."""

    http: bool = False
    port: int = 0


def mcp_command(options: ServeOptions, flags: dict[str, Any]) -> int:
    """`greenloop mcp`: the exit status, once the host has gone."""
    try:
        settings = Settings.load(**flags)
        serve = _prepare_server(settings, options)
    except GreenloopError as error:
        print_error(str(error))
        return error.exit_status
    asyncio.run(serve())
    return 0


def _prepare_server(settings: Settings, options: ServeOptions) -> Callable[[], Any]:
    """Serves until the host has gone. Raises InputError."""
    try:
        from greenloop.integrations.mcp.stdio import serve_stdio
        from greenloop.integrations.mcp.tools import build_server
        from greenloop.integrations.task_group import RunTaskGroup
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise InputError(
            "greenloop mcp needs a package that is missing: pip install 'greenloop[mcp]'"
        ) from None
    logging.getLogger("langsmith").propagate = False  # its errors show a part of the key
    door = _open_socket(options.port) if options.http else None
    if door is None and sys.stdin.isatty():
        print_error("mcp: a host starts this and speaks to it; for one that connects, see --http")

    async def serve() -> None:
        running = RunTaskGroup()
        with closing(AgentService(settings, tracing=open_tracing())) as bench:
            _install_signal_handlers(running.stop, bench)
            server = build_server(bench, running)
            await (serve_stdio(server) if door is None else _serve_http(server, door))

    return serve


def _install_signal_handlers(stop: Callable[[], Any], service: AgentService) -> None:
    """The first SIGINT or SIGTERM ends what is under way in order, a second one at once.

    The process is left for good then: a read of standard input cannot be broken off.
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
    """A socket that only this machine reaches, open from now on: its address can be told.

    Raises InputError where the port is taken.
    """
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((_LOOPBACK_ADDRESS, port))
        door.listen(_LISTEN_BACKLOG)
    except OSError as error:
        door.close()
        raise InputError(f"--port {port}: {error.strerror or error}") from None
    return door


async def _serve_http(server: Any, listener: socket.socket) -> None:
    """Streamable HTTP. Hosts and origins other than this machine are refused: a web page that has
    its own name point here (DNS rebinding) gets nothing."""
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
