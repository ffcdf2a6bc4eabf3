"""Connections to Ray clusters, without Ray's output and usage statistics."""

import contextlib
import importlib
import importlib.util
import logging
import os
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from greenloop.errors import InputError, SettingsError
from greenloop.versions import format_install_command

# The memory is the minimum that Ray accepts; it holds reports only.
_NEW_CLUSTER: dict[str, Any] = {"include_dashboard": False, "object_store_memory": 80 << 20}
_CONNECT_TIMEOUT_SECONDS = 5.0


def require_ray() -> None:
    """Raise InputError if Ray is not installed."""
    is_installed = False
    with contextlib.suppress(ValueError):  # sys.modules has None for it
        is_installed = importlib.util.find_spec("ray") is not None
    if not is_installed:
        command = format_install_command("ray")
        raise InputError(f"--engine ray needs packages that are missing: {command}")


def resolve_address(address: str | None) -> str | None:
    """Return the option, else RAY_ADDRESS; None means a new cluster for this batch."""
    found = address or os.environ.get("RAY_ADDRESS")
    return None if found in (None, "", "local") else found


@contextlib.contextmanager
def connect_to_ray(address: str | None, namespace: str) -> Iterator[Any]:
    """Yield the module `ray`, connected to the cluster at `address` or to a new local one.

    Raises:
        InputError: Ray is not installed.
        SettingsError: there is no cluster at the address.
    """
    ray = _import_ray(address)
    if address is not None:
        _check_reachable(address)
    # What Ray prints is discarded: standard output is reserved for the totals.
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        try:
            with _preserve_sigterm(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # deprecations of Ray's own
                ray.init(
                    address or "local",
                    log_to_driver=False,
                    logging_level=logging.CRITICAL,
                    namespace=namespace,
                    **({} if address else _NEW_CLUSTER),
                )
        except (OSError, RuntimeError, ValueError) as error:
            text = (str(error).strip() or type(error).__name__).splitlines()[0]
            where = f"--address {address}" if address else "a Ray cluster of this machine"
            raise SettingsError(f"{where}: {text}") from None
        try:
            yield ray
        finally:
            ray.shutdown()


def _import_ray(address: str | None) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:  # read when Ray is imported; a new cluster listens on loopback only
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.util.scheduling_strategies")
    except ImportError:
        command = format_install_command("ray")
        raise InputError(f"--engine ray needs packages that are missing: {command}") from None
    return ray


def _check_reachable(address: str) -> None:
    """Raise SettingsError if nothing listens there: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if "://" in address:
        raise SettingsError(
            f"--address {address}: HOST:PORT of a cluster that this machine is part of, or auto"
        )
    if not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_TIMEOUT_SECONDS).close()
    except OSError as error:
        raise SettingsError(f"--address {address}: {error.strerror or error}") from None


@contextlib.contextmanager
def _preserve_sigterm() -> Iterator[None]:
    """Restore the handler of SIGTERM, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
