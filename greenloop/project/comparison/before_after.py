"""Differential test of unchanged interfaces: the code before a change against the code after it."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from greenloop.grading.peer.comparison import Comparison
from greenloop.project.code_map.index import CodeIndex, build_index
from greenloop.project.comparison.module_pair import ModulePair
from greenloop.project.integrity import list_public_changes
from greenloop.project.tree import ProjectTree
from greenloop.records import BeforeAfter, Difference
from greenloop.sandbox import Sandbox
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_empty

_MAX_MODULES = 3


def compare_before_after(
    sandbox: Sandbox,
    before: ProjectTree,
    changes: Mapping[str, str | None],
    touches: Collection[str],
    wish: str,
    seed: str,
) -> BeforeAfter:
    """Compare both versions on inputs derived from the calls in the project's own tests.

    `changes` are the texts of the files that changed, `touches` the names whose behaviour is meant
    to change, and `wish` is the text that asks for it. At most three modules are compared, in about
    five seconds each: changed modules, and modules that tests call and that import a changed one.
    Only public functions and classes with an untouched name and the same signature are called.
    Nondeterministic answers are ignored.
    Raises SandboxError: the sandbox cannot run anything.
    """
    inputs, found = 0, list[Difference]()
    index, after = build_index(before.texts), before.with_changes(changes)
    for path in _select_modules(index, changes):
        pair = ModulePair(sandbox, index, path, after, before, wish, seed)
        comparison = _compare_module(pair, touches)
        inputs += comparison.allowed
        name = index.name_module(path)
        for item in comparison.differences:
            call = item.call if "\n" in item.call else f"{name}.{item.call}"
            found.append(Difference(call=call, code=item.code, peer=item.peer))
    return BeforeAfter(inputs=inputs, differences=tuple(found))


def _select_modules(index: CodeIndex, changes: Mapping[str, str | None]) -> list[str]:
    """Return the changed modules, then their direct and indirect importers that tests use most."""
    changed = [
        path
        for path, text in sorted(changes.items())
        if text is not None and path in index.modules and not index.modules[path].is_test
    ]
    above, waiting = set(changed), list(changed)
    while waiting:
        target = waiting.pop()
        for path, imported in index.imported.items():
            if target in imported and path not in above:
                above.add(path)
                waiting.append(path)
    read = Counter(
        path
        for (reader, _), keys in index.edges.items()
        if index.modules[reader].is_test
        for path, name in keys
        if name and path in above and not index.modules[path].is_test
    )
    ranked = sorted({*changed, *read}, key=lambda path: (path not in changed, -read[path], path))
    return ranked[:_MAX_MODULES]


def _compare_module(pair: ModulePair, touches: Collection[str]) -> Comparison:
    """Return the comparison without functions that are meant to change or are nondeterministic."""
    path, before, after = pair.path, pair.other, pair.tree
    interface = write_kept_interface(path, before.texts, after.texts, touches)
    if not interface:
        return Comparison()
    found = pair.compare(interface)
    if not found.differences:
        return found
    calls = [item.call for item in found.differences]
    again = replace(pair, tree=before).compare(interface, calls)
    left_out = {_name_function(item.call) for item in again.differences}
    # Inputs from the tests also call functions whose behaviour is meant to change.
    left_out |= _read_definitions(before.texts[path]).keys() - _read_definitions(interface).keys()
    kept = (i for i in found.differences if _name_function(i.call) not in left_out)
    return replace(found, differences=tuple(kept))


def write_kept_interface(
    path: str, before: Mapping[str, str], after: Mapping[str, str], touches: Collection[str]
) -> str:
    """Return the source of public functions and classes that must answer as before, '' for none."""
    old, new = _read_definitions(before[path]), _read_definitions(after[path])
    differing = "\n".join(list_public_changes(before, {path: after[path]}))
    touched = {part for name in touches for part in name.split(".")}
    kept = [
        node
        for name, node in new.items()
        if name in old and name[:1] != "_" and name not in touched
        if not re.search(rf"\b(def|class) {name}\b", differing)
    ]
    return "\n\n".join(map(ast.unparse, kept))


def _read_definitions(
    text: str,
) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    body = parse_or_empty(text).body
    return {node.name: node for node in body if isinstance(node, Definition)}


def _name_function(call: str) -> str:
    """Return the function that a call, or the last of several statements, calls."""
    return call.rpartition("\n")[2].partition("(")[0]
