"""The options and arguments of a script's command line, as far as its source shows them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_DECLARING = frozenset({"add_argument", "add_option", "add_parser", "option", "argument", "Option"})
_LOOKS = re.compile(r"--?[A-Za-z][\w-]*")
_CALLED = re.compile(
    r"""\b(?:add_argument|add_option|add_parser|option|argument)[ \t]*\(((?:\s*['"][\w-]+['"]\s*,?)+)"""
)
_QUOTED = re.compile(r"""['"]([\w-]+)['"]""")
_READS = re.compile(r"sys\.argv|ArgumentParser|OptionParser|getopt|typer|click|docopt|\bfire\b")


@dataclass(frozen=True)
class Option:
    """One option, argument or subcommand, by all its names as written."""

    names: tuple[str, ...]

    @property
    def bare(self) -> frozenset[str]:
        """Without dashes, so that `file` and `--file` are the same."""
        return frozenset(name.lstrip("-").rstrip("=").replace("_", "-") for name in self.names)


def options_of(tree: ast.Module) -> Iterator[Option]:
    """Of argparse, optparse, click, typer, getopt, and of comparisons with `--name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _declared(node)
        elif isinstance(node, ast.Compare):
            yield from _compared([node.left, *node.comparators])
        elif isinstance(node, ast.MatchValue):
            yield from _compared([node.value])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_command(node):
            yield from (Option((item.arg,)) for item in (*node.args.args, *node.args.kwonlyargs))


def options_in(source: str) -> Iterator[Option]:
    """Of a source that does not parse: what is declared by a call with plain names."""
    for names in _CALLED.findall(source):
        yield Option(tuple(_QUOTED.findall(names)))


def reads_arguments(source: str) -> bool:
    """Whether the source seems to read its command line at all."""
    return _READS.search(source) is not None


def _declared(node: ast.Call) -> Iterator[Option]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    called = node.func.id if isinstance(node.func, ast.Name) else called
    if called in ("getopt", "gnu_getopt"):
        yield from _of_getopt(node)
    elif called in _DECLARING:
        names = tuple(_plain_texts(node.args))
        if names:
            yield Option(names)


def _plain_texts(nodes: list[ast.expr]) -> Iterator[str]:
    for item in nodes:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item.value


def _of_getopt(node: ast.Call) -> Iterator[Option]:
    for item in node.args[1:]:
        if isinstance(item, (ast.List, ast.Tuple)):
            yield from (Option((f"--{name.rstrip('=')}",)) for name in _plain_texts(item.elts))
        else:
            for text in _plain_texts([item]):
                yield from (Option((f"-{letter}",)) for letter in text if letter.isalnum())


def _compared(nodes: list[ast.expr]) -> Iterator[Option]:
    """`arg == "--all"` and `arg in ("-a", "--all")` are one option each."""
    for node in nodes:
        inner = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
        names = tuple(text for text in _plain_texts(inner) if _LOOKS.fullmatch(text))
        if names:
            yield Option(names)


def _is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether its parameters are options: typer makes a command of it. Click names them above it."""
    words = [ast.unparse(item).partition("(")[0] for item in node.decorator_list]
    if any(word.endswith(("option", "argument")) for word in words):
        return False
    return any(word.endswith((".command", ".callback")) for word in words)
