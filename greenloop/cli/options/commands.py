"""The commands of the program, in the order of `--help`."""

from greenloop.cli.options import checks, runs, tools
from greenloop.cli.options.declaration import Options

_MODULES = (runs, checks, tools)
_NAMES = "make check heal script change batch eval verify gate init mcp resume runs report doctor"
COMMANDS: dict[str, type[Options]] = {
    name: getattr(module, class_name)
    for name in _NAMES.split()
    for module in _MODULES
    if hasattr(module, class_name := f"{name.title()}Options")
}


def summarize(options: type[Options]) -> str:
    """Return the first sentence of a command's help."""
    first = " ".join((options.__doc__ or "").split("\n\n")[0].split())
    return f"{first.partition('. ')[0].rstrip('.')}."
