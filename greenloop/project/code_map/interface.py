"""The interface of a change: stubs of the public names of several modules, each below its name."""

from __future__ import annotations

import ast
import re

from greenloop.project.code_map.index import CodeIndex
from greenloop.project.code_map.modules import Import
from greenloop.syntax.parse import parse_or_none

_MODULE_LINE = re.compile(r"^#\s*module:\s*([\w.]+)[ \t]*$", re.MULTILINE)


def split_interface(interface: str) -> dict[str, str]:
    """Return the stubs by the name of their module; '' for what stands below no name."""
    before, *parts = _MODULE_LINE.split(interface)
    found = {"": before} if list_names(before) else {}
    for module, stub in zip(parts[::2], parts[1::2], strict=True):
        found[module] = found.get(module, "") + stub
    return found


def list_names(stub: str) -> list[str]:
    """Return the public functions and classes of a stub."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    tree = parse_or_none(stub)
    nodes = tree.body if tree else []
    return [node.name for node in nodes if isinstance(node, kinds) and node.name[:1] != "_"]


def select_module(interface: str, call: str) -> str:
    """Return the module whose names a call uses; the first one where that is not known."""
    stubs, words = split_interface(interface), set(re.findall(r"\w+", call))
    using = (module for module, stub in stubs.items() if words.intersection(list_names(stub)))
    return next(using, next(iter(stubs), ""))


def find_module(index: CodeIndex, module: str) -> str | None:
    """Return the path of a module of the project that is no test."""
    path = index.find_module("", Import(module, 0, "", ""))
    return None if path is None or index.modules[path].is_test else path
