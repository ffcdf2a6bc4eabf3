"""The command `init`: write configuration, CI job and pre-commit hook for a project."""

import difflib
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import typer

from greenloop.app.gate.run import note_base
from greenloop.cli.commands.init.agents import find_agent_file, update_agent_file
from greenloop.cli.commands.init.files import ProposedFile, find_repository, propose_files
from greenloop.cli.options.tools import InitOptions
from greenloop.cli.process import fit_terminal, is_terminal
from greenloop.configuration import TABLE
from greenloop.errors import InputError
from greenloop.files import read_text
from greenloop.reporting.summary import pluralize, print_diff
from greenloop.testsuite.parser import has_test_name, is_test_path
from greenloop.workflow.storage.run_dir import write_atomically


def init_command(options: InitOptions) -> int:
    """Run `greenloop init` and return the exit status. Nothing that exists is replaced."""
    root = options.root
    if options.agent is not None:
        return _set_up_agent(root, options.agent, removes=options.remove)
    if options.remove:
        raise InputError("--remove takes out what --agent NAME has added: name the agent")
    for line in _describe_project(root):
        print(fit_terminal(line, sys.stdout))
    for item in propose_files(root):
        print(fit_terminal(_write(item, root), sys.stdout))
    return 0


def _set_up_agent(root: Path, agent: str, *, removes: bool) -> int:
    """Show the change of an agent's file, ask at a terminal, and write it."""
    item = find_agent_file(agent)
    before, after = update_agent_file(root, item, removes=removes)
    if before == after:
        print(f"kept     {item.path}: there is nothing to {'remove' if removes else 'add'}")
        return 0
    names = (f"a/{item.path}", f"b/{item.path}")
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    print_diff(lines, sys.stdout)
    if is_terminal() and not typer.confirm(f"Write {item.path}?", default=True, err=True):
        return 1
    if after:
        write_atomically(root / item.path, after)
    else:
        _remove_file(root, item.path)
    print(f"{'wrote' if after else 'removed':<8} {item.path}")
    if not removes:
        note_base(root.absolute())
        for hint in filter(None, (item.hint, _explain_path())):
            print(fit_terminal(f"         {hint}", sys.stdout))
    return 0


def _remove_file(root: Path, path: str) -> None:
    """Remove a file and its folder, unless this has other files."""
    (root / path).unlink()
    if "/" in path:
        with suppress(OSError):
            (root / path).parent.rmdir()


def _explain_path() -> str:
    """Return a warning if the agent's shell may not find greenloop, '' if it does."""
    found = shutil.which("greenloop")
    if found is None:
        return (
            "greenloop is not on PATH, so the hook does nothing: start the agent in a shell where "
            "`greenloop version` works"
        )
    if sys.prefix != sys.base_prefix and Path(found).is_relative_to(sys.prefix):
        return "start the agent in a shell with this environment: elsewhere the hook does nothing"
    return ""


def _describe_project(root: Path) -> Iterator[str]:
    """Yield lines about the modules, tests and model found, and a command to try first."""
    files = _list_python(root)
    tests = [item for item in files if has_test_name(item.name) and item.stem != "conftest"]
    code = [
        item
        for item in files
        if item.stem != "__init__" and not is_test_path(item.relative_to(root).as_posix())
    ]
    yield f"found    {pluralize(len(code), 'module')}, {pluralize(len(tests), 'test file')}"
    model = next(
        (name for name in ("GREENLOOP_MODEL", "OPENAI_API_KEY") if os.environ.get(name)), ""
    )
    yield f"model    {f'{model} is set' if model else 'none in the environment; see .env'}"
    named = {item.stem.removeprefix("test_").removesuffix("_test"): item for item in tests}
    stems = Counter(item.stem for item in code)
    alone = (item for item in code if item.stem in named and stems[item.stem] == 1)
    pair = next(((item, named[item.stem]) for item in alone), None)
    if pair:
        paths = " ".join(str(item.relative_to(root)) for item in pair)
        yield f"try      greenloop check {paths}"
    elif code and tests and (find_repository(root) / ".git").exists():
        place = "" if root == Path() else f" --in {root}"
        yield f"try      greenloop check --diff HEAD{place}"


def _list_python(root: Path) -> list[Path]:
    """Return the Python files, without those in hidden folders and of installed packages."""
    found: list[Path] = []
    for folder, below, names in os.walk(root):
        below[:] = sorted(
            name
            for name in below
            if name[0] != "."
            and name != "node_modules"
            and not Path(folder, name, "pyvenv.cfg").exists()
        )
        found += [Path(folder, name) for name in sorted(names) if name.endswith(".py")]
    return found


def _write(item: ProposedFile, root: Path) -> str:
    """Write a proposed file, or append what it lacks; return a line about it."""
    name = os.path.relpath(item.path, root)
    if not item.path.exists():
        write_atomically(item.path, item.text)
        return f"wrote    {name}" + (f"; {item.hint}" if item.hint else "")
    before = read_text(item.path)
    is_known = item.command in before
    if not item.appends or TABLE in before:
        return f"kept     {name}" + (
            "" if is_known or not item.otherwise else f"; {item.otherwise}"
        )
    known = [] if TABLE in item.text else before.splitlines()
    added = "".join(f"{line}\n" for line in item.text.splitlines() if line not in known)
    if not added:
        return f"kept     {name}"
    gap = "\n\n" if TABLE in item.text else "\n"
    write_atomically(item.path, f"{before.rstrip()}{gap}{added}")
    return f"extended {name}"
