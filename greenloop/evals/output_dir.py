"""Output directory of an evaluation, derived from tasks, model and settings."""

import re
from pathlib import Path

from greenloop.errors import InputError
from greenloop.evals.results import EVAL_SETUP_FILE
from greenloop.files import writing
from greenloop.llm.model_selection import choose_model
from greenloop.records.batch import EvalSetup
from greenloop.settings import Settings
from greenloop.versions import greenloop_version
from greenloop.workflow.storage.request import (
    NEUTRAL_OPTIONS,
    digest,
    select_saved_options,
    with_absolute_replay,
)
from greenloop.workflow.storage.run_dir import write_atomically

# Not compared when an evaluation is resumed: its setup names the models by themselves.
_IGNORED_OPTIONS = ("model", "fallback_model", *NEUTRAL_OPTIONS)


def open_eval_folder(setup: EvalSetup, home: Path, run_dir: Path | None) -> Path:
    """Create or reopen the folder of an evaluation: `run_dir`, or one below `home`.

    It has `setup.json`, `results.jsonl`, `runs/`, `eval.jsonl`, and at the end `eval.json`.

    Raises:
        InputError: the folder holds another evaluation.
        OutputError: it cannot be created.
    """
    folder = (run_dir or home / "evals" / _name_folder(setup)).absolute()
    with writing(folder):
        (folder / "runs").mkdir(parents=True, exist_ok=True)
    file = folder / EVAL_SETUP_FILE
    if file.exists():
        existing = EvalSetup.model_validate_json(file.read_bytes())
        if _comparable(existing) != _comparable(setup):
            raise InputError(
                f"{folder} holds another evaluation ({existing.model} on {existing.tasks}): name "
                "another --run-dir"
            )
    write_atomically(file, setup.model_dump_json(indent=1) + "\n")
    return folder


def build_setup(tasks: Path, format: str, settings: Settings) -> EvalSetup:
    """Return the setup of an evaluation. Raises NoModelError where no model is configured."""
    kept = {
        name: value
        for name, value in select_saved_options(settings).items()
        if name not in _IGNORED_OPTIONS
    }
    choice = choose_model(settings)
    own_server = settings.openai_base_url if choice.name.startswith("openai:") else None
    return EvalSetup(
        tasks=str(tasks.absolute()),
        format=format,
        model=with_absolute_replay(choice.name),
        server=choice.base_url or own_server,
        fallback_model=settings.fallback_model and with_absolute_replay(settings.fallback_model),
        options=kept,
        greenloop=greenloop_version(),
    )


def _comparable(setup: EvalSetup) -> EvalSetup:
    """Return a setup to compare: without its version, with the defaults of missing options."""
    options = {**select_saved_options(Settings.model_construct()), **setup.options}
    kept = {name: value for name, value in options.items() if name not in _IGNORED_OPTIONS}
    return setup.model_copy(update={"greenloop": "", "options": kept})


def _name_folder(setup: EvalSetup) -> str:
    """Return a readable name with a digest, the same whenever the evaluation is repeated."""
    words = f"{Path(setup.tasks).stem}-{setup.model.rpartition('/')[2]}"
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", words).strip("-.")[:60]
    return f"{readable}-{digest(_comparable(setup).model_dump_json())[:8]}"
