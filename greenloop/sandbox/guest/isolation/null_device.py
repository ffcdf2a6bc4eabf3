"""What forks share of descriptors: replacement by the null device, and positions in files.

Forks that inherit a descriptor share its flags, its owner and its signal.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

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


def find_positions() -> dict[int, int]:
    """Return the positions in open files, by descriptor."""
    found: dict[int, int] = {}
    for number in list_open_fds():
        with suppress(OSError):  # a pipe has no position
            found[number] = os.lseek(number, 0, os.SEEK_CUR)
    return found


def restore_positions(positions: Mapping[int, int]) -> None:
    """Undo what an earlier fork has read of the open files."""
    for number, position in positions.items():
        with suppress(OSError):
            os.lseek(number, position, os.SEEK_SET)


def _is_open(handle: int) -> bool:
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True
