"""Exercism exercises: a folder with `.docs`, `.meta/config.json`, a stub and tests."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from greenloop.errors import InputError
from greenloop.evals.task import EvalTask, ExternalRecord, HiddenFile
from greenloop.files import read_text
from greenloop.syntax.nodes import Function, bound_names
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.module_under_test import list_imported_modules


def describe_stub(stub: str, imported: Collection[str], module: str) -> Iterator[str]:
    """Yield the lines; `imported` are the names that the tests import from the module."""
    tree = parse_or_empty(stub)
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    bound = bound_names((*tree.body, *names))
    rest = [name for name in imported if name not in bound]
    if any(map(_has_code, tree.body)):
        yield f"The module is `{module}`. It begins as this file, whose names have to stay:"
        yield from ("", "```python", stub.strip(), "```", "")
        yield from (f"The tests import `{name}` besides." for name in rest)
    elif offered := [*_describe_definitions(tree), *(f"`{name}`" for name in rest)]:
        yield f"The module is `{module}`, and it offers (parameters may have defaults):"
        yield ""
        yield from (f"- {line}" for line in offered)
        yield ""


def _has_code(node: ast.stmt) -> bool:
    if isinstance(node, Function):
        return not all(map(_is_placeholder, node.body))
    if isinstance(node, ast.ClassDef):
        return any(map(_has_code, node.body))
    return not (_is_placeholder(node) or isinstance(node, (ast.Import, ast.ImportFrom)))


def _is_placeholder(node: ast.stmt) -> bool:
    """Return whether a statement is `pass`, a docstring or `...`."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or isinstance(node, ast.Pass)


def _describe_definitions(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, Function):
            yield f"the function `{node.name}`{_describe_parameters(node)}"
        elif isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, Function)]
            listed = ", ".join(
                f"{_decorator_prefix(item)}`{item.name}`{_describe_parameters(item)}"
                for item in methods
            )
            bases = ", ".join(f"`{ast.unparse(item)}`" for item in node.bases)
            above = f", derived from {bases}," if bases else ""
            yield f"the class `{node.name}`{above}" + (f" with {listed}" if listed else "")


def _decorator_prefix(node: Function) -> str:
    """Return the decorators with a simple name, such as `property`."""
    names = [ast.unparse(item) for item in node.decorator_list]
    return "".join(f"{name} " for name in names if name.isidentifier())


def _describe_parameters(node: Function) -> str:
    args = node.args
    names = [item.arg for item in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    names = [name for name in names if name not in ("self", "cls")]
    if not names and "property" in map(ast.unparse, node.decorator_list):
        return ""
    return f" (parameters: {', '.join(names)})" if names else " (no parameters)"


def find_imported_names(codes: Iterable[str], module: str) -> tuple[str, ...]:
    """Return the names that these files import from the module, without duplicates."""
    nodes = (node for code in codes for node in ast.walk(parse_or_empty(code)))
    from_it = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module == module]
    names = (item.name for node in from_it for item in node.names if item.name != "*")
    return tuple(dict.fromkeys(names))


_CONFIG_FILE = Path(".meta", "config.json")
_INTRODUCTION = "introduction.md"
_INSTRUCTIONS = ("instructions.md", "instructions.append.md")


class ExerciseFiles(ExternalRecord):
    """Files of an exercise.

    A concept exercise has `exemplar` in place of `example`. Its introduction is left out: it
    teaches Python with functions that are not part of the task.
    """

    solution: tuple[str, ...]
    test: tuple[str, ...] = Field(min_length=1)
    example: tuple[str, ...] = ()
    exemplar: tuple[str, ...] = ()
    editor: tuple[str, ...] = ()


class ExerciseConfig(ExternalRecord):
    files: ExerciseFiles


def find_exercises(folder: Path) -> Iterator[Path]:
    """Yield the folder if it is an exercise, else all exercises below it by name."""
    if (folder / _CONFIG_FILE).is_file():
        yield folder
        return
    yield from sorted(path.parents[1] for path in folder.rglob(str(_CONFIG_FILE)))


def exercise_id(folder: Path, root: Path) -> str:
    """Return the exercise's path below `root`; its name where it is the root."""
    relative = folder.relative_to(root).as_posix()
    return folder.absolute().name if relative == "." else relative


def read_exercism_task(folder: Path, root: Path) -> EvalTask:
    """Read the task. Raises InputError where the folder does not have the format."""
    where = str(folder)
    files = _read_config(folder).files
    if len(files.solution) != 1 or not files.solution[0].endswith(".py"):
        raise InputError(f"{where}: files.solution in {_CONFIG_FILE} must name one .py file")
    module = Path(files.solution[0]).stem
    stub = _read_text(folder, files.solution[0]) if (folder / files.solution[0]).exists() else ""
    hidden = list(_read_hidden_files(folder, files))
    texts = _INSTRUCTIONS if files.exemplar else (_INTRODUCTION, *_INSTRUCTIONS)
    example = next(iter((*files.example, *files.exemplar)), None)
    return EvalTask(
        id=exercise_id(folder, root),
        spec="\n".join(_build_spec(folder, texts, stub, hidden, module)),
        module=module,
        tests=tuple(hidden),
        solution=_read_text(folder, example) if example else "",
        where=where,
    )


def _read_config(folder: Path) -> ExerciseConfig:
    text = _read_text(folder, str(_CONFIG_FILE))
    try:
        return ExerciseConfig.model_validate(json.loads(text))
    except (ValidationError, ValueError, RecursionError) as error:
        why = str(error.errors()[0]["loc"]) if isinstance(error, ValidationError) else str(error)
        raise InputError(f"{folder / _CONFIG_FILE}: not the config of an exercise: {why}") from None


def _read_hidden_files(folder: Path, files: ExerciseFiles) -> Iterator[HiddenFile]:
    """Yield the files that the config names, and the modules beside them that they import."""
    waiting, seen = [*files.test, *files.editor], set(files.solution)
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        if not name.endswith(".py") or "/" in name:
            raise InputError(
                f"{folder}: the tests need {name}: only .py files beside them are read"
            )
        code = _read_text(folder, name)
        yield HiddenFile(name=name, code=code)
        beside = [f"{item}.py" for item in list_imported_modules(code)]
        waiting += [item for item in beside if (folder / item).is_file()]


def _read_text(folder: Path, name: str) -> str:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{folder}: {name} in {_CONFIG_FILE} is outside the exercise")
    return read_text(path, f"{folder}: {path}")


def _build_spec(
    folder: Path, texts: tuple[str, ...], stub: str, hidden: list[HiddenFile], module: str
) -> Iterator[str]:
    paths = [folder / ".docs" / name for name in texts]
    found = [read_text(path, f"{folder}: {path}").strip() for path in paths if path.is_file()]
    if not found:
        raise InputError(f"{folder}: .docs/instructions.md is missing: it is the specification")
    yield "\n\n".join(found)
    yield ""
    yield from describe_stub(
        stub, find_imported_names((item.code for item in hidden), module), module
    )
