"""Hash seed of the runs that repeat what others did, and of observed code."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MAX_SEED = 2**32 - 1


def choose_hash_seed() -> int:
    """Return the seed of this machine until it is started again; never 0, that of all other runs.

    A repeat gives the same verdict. Code cannot know the seed in advance: a known one would tell it
    by the hash of a text that it is observed.
    """
    try:
        boot = _BOOT_ID.read_text("ascii")
    except OSError:  # not on Linux
        boot = ""
    parts = (boot, os.uname().nodename, sys.prefix)
    return 1 + zlib.crc32("\0".join(parts).encode()) % _MAX_SEED


HASH_SEED = choose_hash_seed()
