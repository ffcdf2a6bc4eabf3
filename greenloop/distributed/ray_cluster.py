"""Ray, found and connected to: quietly, and without a word to its makers."""

from __future__ import annotations

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

_OBJECT_STORE_BYTES = 80 << 20  # the least that Ray takes; reports are all that lies in it
_CONNECT_TIMEOUT_SECONDS = 5.0
_MISSING_PACKAGES_MESSAGE = (
    "--engine ray needs packages that are missing: pip install 'greenloop[ray]'"
)


def require_ray() -> None:
    """Raises InputError where Ray is not installed."""
    if not _is_installed("ray"):
        raise InputError(_MISSING_PACKAGES_MESSAGE)


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:  # it was taken out of sys.modules by hand
        return False


def resolve_address(address: str | None) -> str | None:
    """What was typed, else RAY_ADDRESS; None for a cluster of the batch's own."""
    found = address or os.environ.get("RAY_ADDRESS")
    return None if found in (None, "", "local") else found


@contextlib.contextmanager
def connect_to_ray(address: str | None, namespace: str) -> Iterator[Any]:
    """The module `ray`, connected: to the cluster at `address`, or to one that ends with this.

    Raises:
        InputError: Ray is not installed.
        SettingsError: there is no cluster at the address.
    """
    ray = _import_ray(address)
    if address is not None:
        _check_reachable(address)
    with _suppress_stdout():
        try:
            with _preserve_sigterm(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what Ray will do otherwise in the future
                _initialize_ray(ray, address, namespace)
        except (OSError, RuntimeError, ValueError) as error:
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            where = f"--address {address}" if address else "a Ray cluster of this machine"
            raise SettingsError(f"{where}: {said}") from None
        try:
            yield ray
        finally:
            ray.shutdown()


def _import_ray(address: str | None) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:  # Ray reads it as it is imported: a cluster of our own listens here alone
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.util.scheduling_strategies")
    except ImportError:
        raise InputError(_MISSING_PACKAGES_MESSAGE) from None
    return ray


def _initialize_ray(ray: Any, address: str | None, namespace: str) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL, "namespace": namespace}
    if address is not None:
        ray.init(address, **quiet)
        return
    ray.init("local", include_dashboard=False, object_store_memory=_OBJECT_STORE_BYTES, **quiet)


def _check_reachable(address: str) -> None:
    """Ray itself would try for minutes."""
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
def _suppress_stdout() -> Iterator[None]:
    """Ray prints what happens to its nodes on standard output, which belongs to the totals."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


@contextlib.contextmanager
def _preserve_sigterm() -> Iterator[None]:
    """Ray takes SIGTERM for itself: it is given back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
