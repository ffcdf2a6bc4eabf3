"""Comparison of two independent changes of a project that were written from the same wish."""

import ast
from collections.abc import Collection
from dataclasses import dataclass, replace

from greenloop.grading.peer.comparison import Comparison
from greenloop.project.code_map.index import CodeIndex, build_index
from greenloop.project.code_map.interface import find_module, list_names, split_interface
from greenloop.project.comparison.module_pair import ModulePair
from greenloop.project.tree import ProjectTree
from greenloop.sandbox import Sandbox
from greenloop.syntax.parse import parse_or_empty

_MAX_MODULES = 3
_NOTHING = "no function or class of the interface is defined by both changes"
# Adapts a generator and a precondition of several functions, which take the function's name first,
# to one function.
_ONE_NAME = """
inputs__, allowed__ = inputs, globals().get("allowed", lambda *given, **named: True)

def inputs(rng):
    for item in inputs__(rng):
        if isinstance(item, list) or item[0] == {name!r}:
            yield item if isinstance(item, list) else item[1:]

def allowed(*given, **named):
    return allowed__({name!r}, *given, **named)
"""


@dataclass(frozen=True)
class PeerChanges:
    """Two changes of a project, both with the new tests."""

    tree: ProjectTree
    other: ProjectTree
    interface: str  # both changes were written from the interface and the wish
    wish: str
    inputs: str = ""  # the source of a generator
    tests: Collection[str] = ()  # the paths of files with new tests
    failing: Collection[str] = ()  # the names of tests that the other change fails


def compare_peers(
    sandbox: Sandbox, peers: PeerChanges, examples: list[str], seed: str
) -> Comparison:
    """Compare the functions and classes of the interface, then those that the new tests call.

    At most three modules are compared, in about five seconds each. `examples` are calls.
    Raises SandboxError: the sandbox cannot run anything.
    """
    index = build_index(peers.tree.texts)
    both = peers.tree.texts.keys() & peers.other.texts.keys()
    found = Comparison(problem=_NOTHING)
    named, called = _group_by_file(index, peers.interface), _write_called(index, peers)
    stubs = {path: stub for path, stub in (called | named).items() if path in both}
    ranked = sorted(stubs, key=lambda path: path not in named)[:_MAX_MODULES]
    for number, path in enumerate(ranked):
        pair = ModulePair(sandbox, index, path, peers.tree, peers.other, peers.wish, seed)
        # The generator and its precondition are only about the interface.
        inputs = _adapt_inputs(peers.inputs, list_names(stubs[path])) if path in named else ""
        one = pair.compare(stubs[path], examples, inputs, peers.failing)
        found = _add(found, one) if number else one
    return found


def _group_by_file(index: CodeIndex, interface: str) -> dict[str, str]:
    """Return the interface's stubs by the path of the file that defines their names."""
    found: dict[str, str] = {}
    for module, stub in split_interface(interface).items():
        home = find_module(index, module)
        for node in parse_or_empty(stub).body:
            name = getattr(node, "name", "")
            if name and (path := _find_definition(index, home, name)):
                found[path] = f"{found.get(path, '')}{ast.unparse(node)}\n\n"
    return found


def _find_definition(index: CodeIndex, home: str | None, name: str) -> str:
    if home is not None:
        return index.resolve((home, name))[0]
    paths = [path for path, defined in index.definitions if defined == name]
    return paths[0] if len(paths) == 1 else ""


def _write_called(index: CodeIndex, peers: PeerChanges) -> dict[str, str]:
    """Return the source of the definitions that test files use, by the path of their file."""
    keys = {
        key
        for (path, _), found in index.edges.items()
        for key in found
        if path in peers.tests and not index.modules[key[0]].is_test
    }
    called: dict[str, str] = {}
    for path in sorted({path for path, _ in keys}):
        body = parse_or_empty(peers.tree.texts[path]).body
        nodes = (item for item in body if (path, getattr(item, "name", "")) in keys)
        called[path] = "\n\n".join(map(ast.unparse, nodes))
    return {path: stub for path, stub in called.items() if list_names(stub)}


def _adapt_inputs(inputs: str, names: list[str]) -> str:
    return inputs + _ONE_NAME.format(name=names[0]) if inputs and len(names) == 1 else inputs


def _add(first: Comparison, second: Comparison) -> Comparison:
    return replace(
        first,
        inputs=first.inputs + second.inputs,
        allowed=first.allowed + second.allowed,
        agreed=first.agreed + second.agreed,
        differences=(*first.differences, *second.differences),
        differing_tests=(*first.differing_tests, *second.differing_tests),
        slower=(*first.slower, *second.slower),
        is_exhausted=first.is_exhausted and second.is_exhausted,
        problem="" if second.allowed else first.problem or second.problem,
    )
