"""The command `make`: write code and tests for a specification."""

from pathlib import Path

from greenloop.app.inputs.specification import (
    add_answers,
    read_locked_choices,
    read_specification,
    read_tests,
    resolve_module_name,
)
from greenloop.app.requests import to_absolute_path
from greenloop.cli.options.runs import MakeOptions
from greenloop.cli.process import print_error
from greenloop.cli.run_agent import build_new_request, start_run
from greenloop.errors import OutputError
from greenloop.files import read_text
from greenloop.settings import Settings
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.choices_file import read_marked_answers


def make_command(options: MakeOptions) -> int:
    """Run `greenloop make` and return the exit status."""
    return start_run(options, _build_request)


def _build_request(options: MakeOptions, settings: Settings) -> MakeRequest:
    specification = read_specification(options.spec)
    given = read_tests(tuple(options.tests or ()))
    _check_collisions(options, settings, specification.path)
    request = build_new_request(
        MakeRequest,
        options,
        settings,
        specification=specification.text,
        module=resolve_module_name(options.output, given, settings.allow_list.import_names),
        given=given,
        tests_output=to_absolute_path(options.tests_output),
        source=to_absolute_path(specification.path),
        force=options.force,
        keep_best=options.keep_best,
    )
    return _answer_choices(request, options)


def _answer_choices(request: MakeRequest, options: MakeOptions) -> MakeRequest:
    """Return the request with the user's answers to choices, or consent to all.

    The choices are those of the lock beside the output, if it is of the same text; else they are
    not known yet.
    """
    if options.answers is None and not options.accept_choices:
        return request
    choices, accept = read_locked_choices(request), options.accept_choices
    if choices is None:
        return _answer_beforehand(request, options)
    request, why = add_answers(request, choices, options.answers, accept=accept, has_code=False)
    if why:
        print_error(why)
    return request


def _answer_beforehand(request: MakeRequest, options: MakeOptions) -> MakeRequest:
    """Return the request with the answers of a file after its text, or with consent to all."""
    update: dict[str, object] = {"accepts_choices": options.accept_choices}
    if path := options.answers:
        given = read_marked_answers(path, read_text(path, f"--answers {path}"))
        lines = "".join(f"- {question} {answer}\n" for question, answer in given)
        head = f"{request.specification.rstrip()}\n\nThe author's answers:\n"
        update["specification"] = f"{head}{lines}"
    return request.model_copy(update=update)


def _check_collisions(options: MakeOptions, settings: Settings, specification: Path | None) -> None:
    """Raise OutputError if an output would overwrite an input or another output."""
    inputs = [*(options.tests or ()), *([specification] if specification else [])]
    for name in (settings.model, settings.fallback_model):
        inputs += [Path(name[7:])] if name and name.startswith("replay:") else []
    seen = {path.absolute().resolve(): "an input of this run" for path in inputs}
    outputs = {
        "--output": options.output,
        "--tests-output": options.tests_output,
        "--record": options.record,
    }
    for flag, path in outputs.items():
        if path is None:
            continue
        if description := seen.get(path.absolute().resolve()):
            raise OutputError(f"{flag} {path} would overwrite {description}")
        seen[path.absolute().resolve()] = f"the file of {flag}"
