"""Exercism exercises: a folder with `.docs`, `.meta/config.json`, a stub and tests."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from greenloop.errors import InputError
from greenloop.evals.task import EvalTask, ExternalRecord, HiddenFile
from greenloop.files import read_text
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.module_under_test import list_imported_modules

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


def find_exercises(folder: Path) -> list[Path]:
    """Return the folder if it is an exercise, else all exercises below it by name."""
    if (folder / _CONFIG_FILE).is_file():
        return [folder]
    return sorted(path.parents[1] for path in folder.rglob(str(_CONFIG_FILE)))


def exercise_id(folder: Path, root: Path) -> str:
    """Return the exercise's path below `root`; its name where it is the root."""
    relative = folder.relative_to(root).as_posix()
    return folder.absolute().name if relative == "." else relative


def read_exercism_task(folder: Path, root: Path) -> EvalTask:
    """Read the task. Raises InputError where the folder does not have the format."""
    files = _read_config(folder).files
    if len(files.solution) != 1 or not files.solution[0].endswith(".py"):
        raise InputError(f"{folder}: files.solution in {_CONFIG_FILE} must name one .py file")
    module = Path(files.solution[0]).stem
    stub = _read_text(folder, files.solution[0]) if (folder / files.solution[0]).exists() else ""
    hidden = tuple(_read_hidden_files(folder, files))
    texts = _INSTRUCTIONS if files.exemplar else (_INTRODUCTION, *_INSTRUCTIONS)
    examples = (*files.example, *files.exemplar)
    return EvalTask(
        id=exercise_id(folder, root),
        spec=_read_texts(folder, texts) + _describe_module(stub, hidden, module),
        module=module,
        tests=hidden,
        solution=_read_text(folder, examples[0]) if examples else "",
        where=str(folder),
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


def _read_texts(folder: Path, names: tuple[str, ...]) -> str:
    paths = [folder / ".docs" / name for name in names]
    found = [read_text(path, f"{folder}: {path}").strip() for path in paths if path.is_file()]
    if not found:
        raise InputError(f"{folder}: .docs/instructions.md is missing: it is the specification")
    return "\n\n".join(found)


def _describe_module(stub: str, hidden: tuple[HiddenFile, ...], module: str) -> str:
    """Return the text about the stub and about the names that the tests import besides."""
    nodes = (node for item in hidden for node in ast.walk(parse_or_empty(item.code)))
    from_it = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module == module]
    names = dict.fromkeys(f"`{alias.name}`" for node in from_it for alias in node.names)
    return (
        f"\n\nThe module is `{module}`; its tests import {', '.join(names) or 'the module'}. It "
        "begins as this file, whose names and parameters have to stay (parameters may get "
        f"defaults):\n\n```python\n{stub.strip()}\n```\n"
    )
