"""Changes of the standard library: what is observed through a replaced function proves nothing."""

from __future__ import annotations

import builtins
import io
import json
import math
import operator
import os
import pathlib
import re
from typing import Any

_OWNERS = (
    *(builtins, io, json, math, operator, os, os.path, pathlib, re),
    *(pathlib.PurePath, pathlib.PurePosixPath, pathlib.Path, pathlib.PosixPath),
)


class LibraryState:
    """The attributes of modules and classes through which tests look at results."""

    def __init__(self) -> None:
        self._attributes = [(owner, key, item) for owner in _OWNERS for key, item in _read(owner)]

    def find_replaced(self) -> str:
        """Return the name of an attribute that is another one now, '' for none."""
        current = {id(owner): dict(_read(owner)) for owner in _OWNERS}
        for owner, key, item in self._attributes:
            if current[id(owner)].get(key, item) is not item:
                return f"{owner.__name__}.{key}"
        return ""


def _read(owner: Any) -> list[tuple[str, Any]]:
    return [item for item in vars(owner).items() if not item[0].startswith("__")]
