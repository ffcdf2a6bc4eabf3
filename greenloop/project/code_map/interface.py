"""The interface of a change: stubs of public names, grouped by lines with the module's name."""

import builtins
import re
from collections.abc import Mapping

from greenloop.project.code_map.index import CodeIndex
from greenloop.project.code_map.modules import Import, parse_module
from greenloop.records import Contract
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import is_test_path

_MODULE_LINE = re.compile(r"^#\s*module:\s*([\w.]+)[ \t]*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")


def split_interface(interface: str) -> dict[str, str]:
    """Return the stubs by module name, '' for stubs before the first module line."""
    before, *parts = _MODULE_LINE.split(interface)
    found = {"": before} if list_names(before) else {}
    for module, stub in zip(parts[::2], parts[1::2], strict=True):
        found[module] = found.get(module, "") + stub
    return found


def list_names(stub: str) -> list[str]:
    """Return the names of the public functions and classes of a stub."""
    nodes = parse_or_empty(stub).body
    return [node.name for node in nodes if isinstance(node, Definition) and node.name[:1] != "_"]


def select_module(interface: str, call: str) -> str:
    """Return the module whose names a call uses, or else the first module."""
    stubs, words = split_interface(interface), set(re.findall(r"\w+", call))
    using = (module for module, stub in stubs.items() if words.intersection(list_names(stub)))
    return next(using, next(iter(stubs), ""))


def find_module(index: CodeIndex, module: str) -> str | None:
    """Return the path of a module of the project that is no test."""
    path = index.find_module("", Import(module, 0, "", ""))
    return None if path is None or index.modules[path].is_test else path


def find_early_keep(texts: Mapping[str, str], contract: Contract) -> dict[str, str]:
    """Return the `keep` items of a contract that use a name which the change adds, by id.

    The values are the names. A name is added if no module of the project contains it. It is used
    if it is called, read as an attribute, or passed as a keyword.
    """
    stubs = split_interface(contract.interface).values()
    heads = [item.head for stub in stubs for item in parse_module("", stub).definitions]
    files = [text for path, text in texts.items() if not is_test_path(path)]
    named, known = (
        {name for text in some for name in _NAME.findall(text)} for some in (heads, files)
    )
    added = sorted(named - known - set(vars(builtins)))
    return {
        item.id: name
        for item in contract.keep
        for name in added
        if re.search(rf"\.{name}\b|\b{name}(?=\(|=(?!=))", item.text)
    }
