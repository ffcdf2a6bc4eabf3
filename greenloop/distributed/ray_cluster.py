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

_STORE_BYTES = 80 << 20  # the least that Ray takes; reports are all that lies in it
_ANSWER_S = 5.0
_MISSING = "--engine ray needs packages that are missing: pip install 'greenloop[ray]'"


def require_ray() -> None:
    """Raises InputError where Ray is not installed."""
    if not _is_there("ray"):
        raise InputError(_MISSING)


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:  # it was taken out of sys.modules by hand
        return False


def address_of(given: str | None) -> str | None:
    """What was typed, else RAY_ADDRESS; None for a cluster of the batch's own."""
    found = given or os.environ.get("RAY_ADDRESS")
    return None if found in (None, "", "local") else found


@contextlib.contextmanager
def connected(address: str | None, namespace: str) -> Iterator[Any]:
    """The module `ray`, connected: to the cluster at `address`, or to one that ends with this.

    Raises:
        InputError: Ray is not installed.
        SettingsError: there is no cluster at the address.
    """
    ray = _imported(address)
    if address is not None:
        _must_answer(address)
    with _quietly():
        try:
            with _own_signals(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what Ray will do otherwise in the future
                _connect(ray, address, namespace)
        except (OSError, RuntimeError, ValueError) as error:
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            where = f"--address {address}" if address else "a Ray cluster of this machine"
            raise SettingsError(f"{where}: {said}") from None
        try:
            yield ray
        finally:
            ray.shutdown()


def _imported(address: str | None) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:  # Ray reads it as it is imported: a cluster of our own listens here alone
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.util.scheduling_strategies")
    except ImportError:
        raise InputError(_MISSING) from None
    return ray


def _connect(ray: Any, address: str | None, namespace: str) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL, "namespace": namespace}
    if address is not None:
        ray.init(address, **quiet)
        return
    ray.init("local", include_dashboard=False, object_store_memory=_STORE_BYTES, **quiet)


def _must_answer(address: str) -> None:
    """Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if "://" in address:
        raise SettingsError(
            f"--address {address}: HOST:PORT of a cluster that this machine is part of, or auto"
        )
    if not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()
    except OSError as error:
        raise SettingsError(f"--address {address}: {error.strerror or error}") from None


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Ray prints what happens to its nodes on standard output, which belongs to the totals."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Ray takes SIGTERM for itself: it is given back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
