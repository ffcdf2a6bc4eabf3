"""Command-line options and arguments of a script, found in its source."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.syntax.nodes import Function, get_last_name

_DECLARING_FUNCTIONS = frozenset(
    {"add_argument", "add_option", "add_parser", "option", "argument", "Option"}
)
_OPTION_NAME = re.compile(r"--?[A-Za-z][\w-]*")
_DECLARING_CALL = re.compile(
    r"""\b(?:add_argument|add_option|add_parser|option|argument)[ \t]*\(((?:\s*['"][\w-]+['"]\s*,?)+)"""
)
_QUOTED_NAME = re.compile(r"""['"]([\w-]+)['"]""")
_COMMAND_LINE_USE = re.compile(
    r"sys\.argv|ArgumentParser|OptionParser|getopt|typer|click|docopt|\bfire\b"
)


@dataclass(frozen=True)
class Option:
    """One option, argument or subcommand, by all its names as written."""

    names: tuple[str, ...]

    @property
    def normalized_names(self) -> frozenset[str]:
        """The names without leading dashes, so that `file` and `--file` are the same."""
        return frozenset(name.lstrip("-").rstrip("=").replace("_", "-") for name in self.names)


def find_options(tree: ast.Module) -> Iterator[Option]:
    """Yield the options of argparse, optparse, click, typer and getopt, and compared strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _options_from_call(node)
        elif isinstance(node, ast.Compare):
            yield from _options_from_comparison([node.left, *node.comparators])
        elif isinstance(node, ast.MatchValue):
            yield from _options_from_comparison([node.value])
        elif isinstance(node, Function) and _is_command(node):
            yield from (Option((item.arg,)) for item in (*node.args.args, *node.args.kwonlyargs))


def find_options_by_pattern(source: str) -> Iterator[Option]:
    """Yield the options of a source that does not parse, found by a pattern."""
    for names in _DECLARING_CALL.findall(source):
        yield Option(tuple(_QUOTED_NAME.findall(names)))


def reads_arguments(source: str) -> bool:
    """Return whether the source seems to read its command line."""
    return _COMMAND_LINE_USE.search(source) is not None


def _options_from_call(node: ast.Call) -> Iterator[Option]:
    called = get_last_name(node.func)
    if called in ("getopt", "gnu_getopt"):
        yield from _options_from_getopt(node)
    elif called in _DECLARING_FUNCTIONS:
        names = tuple(_iter_string_constants(node.args))
        if names:
            yield Option(names)


def _iter_string_constants(nodes: list[ast.expr]) -> Iterator[str]:
    for item in nodes:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item.value


def _options_from_getopt(node: ast.Call) -> Iterator[Option]:
    for item in node.args[1:]:
        if isinstance(item, (ast.List, ast.Tuple)):
            yield from (
                Option((f"--{name.rstrip('=')}",)) for name in _iter_string_constants(item.elts)
            )
        else:
            for text in _iter_string_constants([item]):
                yield from (Option((f"-{letter}",)) for letter in text if letter.isalnum())


def _options_from_comparison(nodes: list[ast.expr]) -> Iterator[Option]:
    """Yield one option each for `arg == "--all"` and `arg in ("-a", "--all")`."""
    for node in nodes:
        inner = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
        names = tuple(
            text for text in _iter_string_constants(inner) if _OPTION_NAME.fullmatch(text)
        )
        if names:
            yield Option(names)


def _is_command(node: Function) -> bool:
    """Return whether the parameters are options, as in typer; click declares them in decorators."""
    words = [ast.unparse(item).partition("(")[0] for item in node.decorator_list]
    if any(word.endswith(("option", "argument")) for word in words):
        return False
    return any(word.endswith((".command", ".callback")) for word in words)
