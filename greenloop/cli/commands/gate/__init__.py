"""The command `gate`: check the change of a coding agent when it stops."""

import sys
from contextlib import ExitStack
from pathlib import Path

from greenloop.app.gate.events import Agent, StopEvent, format_block, format_pass, read_event
from greenloop.app.gate.run import GateAnswer, GateRequest, run_gate
from greenloop.app.gate.settings import load_base_settings
from greenloop.cli.options.checks import GateOptions
from greenloop.cli.process import print_error, run_with_signals
from greenloop.errors import GreenloopError
from greenloop.project.environment.discovery import find_project_root
from greenloop.reporting.progress.renderer import create_progress
from greenloop.sandbox import Sandbox, open_sandbox

_MAX_EVENT_CHARACTERS = 1_000_000


def gate_command(options: GateOptions) -> int:
    """Run `greenloop gate` and return the exit status.

    It is 0 for agents that read an answer; `text` blocks with status 1. A problem that the agent
    cannot fix is printed for the user, with status 0.
    """
    agent = options.agent
    event = _read_event(agent)
    if event.is_aborted:
        print(format_pass(agent))
        return 0
    try:
        answer = _run(options, event)
    except GreenloopError as error:
        answer = GateAnswer(note=f"the gate did not run: {error}")
    if answer.note:
        print_error(answer.note)
    if not answer.message:
        if text := format_pass(agent, answer.note):
            print(text)
        elif sys.stdout.isatty() and not answer.note:
            print_error("nothing to fix in this change")
        return 0
    print(format_block(agent, answer.message))
    return 1 if agent == "text" else 0


def _read_event(agent: Agent) -> StopEvent:
    """Return the event that an agent writes to standard input, if there is one.

    At a terminal there is no agent to let go: each call is a piece of work of its own.
    """
    if sys.stdin and sys.stdin.isatty():
        return StopEvent(is_repeated=False)
    if sys.stdin is None or agent == "text":  # a pipe that nobody closes, if there is no event
        return StopEvent()
    return read_event(sys.stdin.read(_MAX_EVENT_CHARACTERS))


def _run(options: GateOptions, event: StopEvent) -> GateAnswer:
    # an agent's working folder may be any folder of the project
    folder = event.folder or Path()
    root = options.root if options.root.parts else find_project_root(folder) or folder
    request = GateRequest(root.absolute(), options.base or "", options.time, options.tries, event)
    settings = load_base_settings(request, **options.given)
    with ExitStack() as stack:

        async def open_box() -> Sandbox:
            return stack.enter_context(open_sandbox(settings))

        quiet = not sys.stdin or not sys.stdin.isatty()  # an agent is waiting, not a user
        progress = stack.enter_context(create_progress(quiet=quiet, verbose=False))
        return run_with_signals(run_gate(request, settings, open_box, progress))
