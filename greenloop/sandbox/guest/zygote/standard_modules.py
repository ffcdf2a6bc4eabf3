"""Modules of the standard library that a zygote loads before the first run that imports them."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Those that start no thread and open nothing when they are imported.
STANDARD_MODULES = (
    "argparse array asyncio base64 bisect calendar cmath collections concurrent.futures copy csv "
    "dataclasses datetime decimal difflib doctest email enum fractions functools glob hashlib heapq "
    "html importlib inspect io itertools json keyword logging math numbers operator os pathlib pickle "
    "pprint queue random re shutil sqlite3 statistics string struct subprocess tempfile textwrap "
    "threading time timeit tokenize traceback types typing unicodedata unittest unittest.mock "
    "urllib.parse uuid warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo"
).split()
_IMPORT = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*)(?:[ \t]+import[ \t]+(\w+))?",
    re.MULTILINE,
)


def find_preloadable(files: Iterable[bytes]) -> list[str]:
    """Return the modules that one of the files imports and that can be preloaded, sorted."""
    found: set[str] = set()
    for text in files:
        for names, member in _IMPORT.findall(text):
            for name in names.decode("utf-8", "replace").split(","):
                parent = name.strip()
                found.update((parent, f"{parent}.{member.decode('utf-8', 'replace')}"))
    return sorted(found.intersection(STANDARD_MODULES))
