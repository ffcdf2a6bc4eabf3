"""Sandbox for the tests of a project, with its own environment if it has one."""

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.events import EventSink, Notice
from greenloop.project.environment import find_environment, open_environment
from greenloop.project.environment.folders import list_copied_sources
from greenloop.project.environment.making import list_wanted
from greenloop.records import ProjectEnvironment
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.workflow.state import RunState


@contextlib.contextmanager
def use_environment(
    sandbox: Sandbox,
    root: Path,
    settings: Settings,
    emit: EventSink,
    state: RunState,
    omitted: Collection[str] = (),
    place: str | Path = "",
) -> Iterator[Sandbox]:
    """Yield a sandbox of the project's environment; the given one if there is none.

    The environment is named in a notice, and recorded in the state. `omitted` are files of the
    project that its tests run without, `place` the folder in it whose environment is used.

    Raises:
        InputError: the environment that was named cannot be used.
        SandboxError: nothing can be copied.
    """
    root = root.resolve()

    def notify(line: str) -> None:
        emit(Notice(line))

    found = find_environment(root / place, settings.python, notify)
    if found is None and (wanted := list_wanted(root / place)):
        notify(
            f"no environment: --install installs the {len(wanted)} packages that {root.name} declares"
        )
    with contextlib.ExitStack() as opened:
        own = sandbox
        if found is not None:
            try:
                opening = open_environment(sandbox, found, root, settings.env, omitted, notify)
                own = opened.enter_context(opening)
            except SandboxError as error:
                if settings.python:
                    raise
                notify(f"{found.prefix} is not used: {error}")
            else:
                notify(found.describe(str(root)))
                for folder in list_copied_sources(found, str(root)):
                    notify(f"{folder} comes before the copies that are installed without -e")
                state.environment = ProjectEnvironment(
                    python=found.python_version,
                    path=found.prefix,
                    pytest=found.pytest_version,
                    plugins=found.plugins,
                )
        yield own
