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


# References to functions that the code under test may replace.
_is, _all, _map, _vars, _zip = operator.is_, all, map, vars, zip


class LibraryState:
    """The attributes of modules and classes through which tests look at results."""

    def __init__(self) -> None:
        self._attributes: list[tuple[Any, list[str], list[Any]]] = []
        for owner in _OWNERS:
            names = [name for name in vars(owner) if not name.startswith("__")]
            self._attributes.append((owner, names, [vars(owner)[name] for name in names]))

    def find_replaced(self) -> str:
        """Return the name of an attribute that is another one now, '' for none."""
        for owner, names, items in self._attributes:
            current = _vars(owner).get
            if not _all(_map(_is, _map(current, names), items)):  # far quicker than the loop
                for name, item in _zip(names, items):
                    if current(name, item) is not item:
                        return f"{owner.__name__}.{name}"
        return ""
