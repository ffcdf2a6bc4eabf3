"""The command `change`: change a project as described, by a graded patch."""

from greenloop.app.inputs.change_files import (
    check_fence,
    check_project,
    check_unlocked,
    read_change_tests,
    read_wish,
)
from greenloop.cli.options.runs import ChangeOptions
from greenloop.cli.process import print_error
from greenloop.cli.run_agent import build_new_request, start_run
from greenloop.errors import InputError
from greenloop.project.environment.discovery import install_declared_packages
from greenloop.settings import Settings
from greenloop.workflow.change.request import ChangeRequest


def change_command(options: ChangeOptions) -> int:
    """Run `greenloop change` and return the exit status."""
    return start_run(options, _build_request)


def _build_request(options: ChangeOptions, settings: Settings) -> ChangeRequest:
    if options.apply and options.branch:
        raise InputError(
            "--apply and --branch cannot be used together: --branch leaves the working tree as it is"
        )
    if options.run_hooks and not options.branch:
        raise InputError("--run-hooks needs --branch NAME")
    root = check_project(options.root, options.branch)
    if options.install:
        install_declared_packages(root, print_error)
    if options.run_hooks:
        print_error("--run-hooks: git hooks and filters will run the new code outside the sandbox")
    return build_new_request(
        ChangeRequest,
        options,
        settings,
        specification=read_wish(options.wish, options.issue),
        root=str(root),
        given=read_change_tests(root, options.tests or ()),
        fence=check_fence(options.fence or settings.fence),
        may_change=check_unlocked(root, options.may_change or ()),
        measures_baseline=not options.no_baseline,
        apply=options.apply,
        branch=options.branch,
        run_hooks=options.run_hooks,
        keep_best=options.keep_best,
    )
