"""Replacement of descriptors that forks would share by the null device.

Forks that inherit a descriptor share its flags, its owner and its signal.
"""

import os
from collections.abc import Iterable

_FIRST_OTHER_FD, _MAX_GUEST_FD = 3, 64  # the guest opens no higher descriptor before it forks


def redirect_to_null(numbers: Iterable[int]) -> None:
    """Redirect these descriptors to the null device, by a new open file description."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in numbers:
        os.dup2(null, number, inheritable=number < _FIRST_OTHER_FD)
    os.close(null)


def list_open_fds() -> list[int]:
    """Return the open descriptors of the guest, also where /proc cannot be read."""
    return [number for number in range(_MAX_GUEST_FD) if _is_open(number)]


def _is_open(handle: int) -> bool:
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True
