"""Folders as Exercism's tracks have them: `.docs`, `.meta/config.json`, a stub, and tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from greenloop.errors import InputError
from greenloop.evals.datasets.jsonl import read_text_file
from greenloop.evals.datasets.stub_description import describe_stub, find_imported_names
from greenloop.evals.task import EvalTask, ExternalRecord, HiddenFile
from greenloop.testsuite.module_under_test import list_imported_modules

_CONFIG_FILE = Path(".meta", "config.json")
_INTRODUCTION = "introduction.md"
_INSTRUCTIONS = ("instructions.md", "instructions.append.md")


class ExerciseFiles(ExternalRecord):
    """`exemplar` is what a concept exercise has in the place of `example`. Its introduction teaches
    Python, with functions and examples of its own, which would be taken for what is asked for."""

    solution: tuple[str, ...]
    test: tuple[str, ...] = Field(min_length=1)
    example: tuple[str, ...] = ()
    exemplar: tuple[str, ...] = ()
    editor: tuple[str, ...] = ()


class ExerciseConfig(ExternalRecord):
    files: ExerciseFiles


def find_exercises(folder: Path) -> Iterator[Path]:
    """The folder itself, where it is an exercise; else all exercises below it, by name."""
    if (folder / _CONFIG_FILE).is_file():
        yield folder
        return
    yield from sorted(path.parents[1] for path in folder.rglob(str(_CONFIG_FILE)))


def exercise_id(folder: Path, root: Path) -> str:
    """Its path below the folder that was named; the name of that one, where it is the exercise."""
    relative = folder.relative_to(root).as_posix()
    return folder.absolute().name if relative == "." else relative


def read_exercism_task(folder: Path, root: Path) -> EvalTask:
    """Raises InputError where the folder is not what the format says."""
    where = str(folder)
    files = _read_config(folder).files
    if len(files.solution) != 1 or not files.solution[0].endswith(".py"):
        raise InputError(
            f"{where}: files.solution in {_CONFIG_FILE} has to name one .py file (one module is made)"
        )
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
        raise InputError(f"{folder / _CONFIG_FILE}: no config of an exercise: {why}") from None


def _read_hidden_files(folder: Path, files: ExerciseFiles) -> Iterator[HiddenFile]:
    """What the config names, and what of the same folder those import besides."""
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
        raise InputError(f"{folder}: {name} in {_CONFIG_FILE} leads out of the exercise")
    return read_text_file(path, str(folder))


def _build_spec(
    folder: Path, texts: tuple[str, ...], stub: str, hidden: list[HiddenFile], module: str
) -> Iterator[str]:
    paths = [folder / ".docs" / name for name in texts]
    found = [read_text_file(path, str(folder)).strip() for path in paths if path.is_file()]
    if not found:
        raise InputError(f"{folder}: .docs/instructions.md is not there: it is the specification")
    yield "\n\n".join(found)
    yield ""
    yield from describe_stub(
        stub, find_imported_names((item.code for item in hidden), module), module
    )
