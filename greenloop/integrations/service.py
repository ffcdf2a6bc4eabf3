"""What the calls of a host share, and the three things that it can have done."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from greenloop.agent import CodingAgent
from greenloop.app.check import begin_check, check_directory, saved_check
from greenloop.app.check_report import Check, check_report
from greenloop.app.inputs.check_files import Checked, read_checked
from greenloop.app.inputs.heal_files import read_original
from greenloop.app.inputs.specification import read_text
from greenloop.app.requests import Expected, ScriptArguments, script_request, with_absolute_replays
from greenloop.errors import GreenloopError, InputError, InterruptedRunError
from greenloop.events import Emit, RunFinished, ignore
from greenloop.grading import Plan
from greenloop.integrations.input_files import Given, module_of, read_from
from greenloop.llm.chat import ChatSource
from greenloop.llm.factory import asks_nobody
from greenloop.records import Report, SandboxInfo
from greenloop.sandbox import open_sandbox
from greenloop.sandbox.base import TestingSandbox
from greenloop.sandbox.views.throttled import SharedSandbox
from greenloop.settings import Settings
from greenloop.tracing.setup import Tracing, traced
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.setup.runtime import Parts
from greenloop.workflow.storage.request import RunRequest, kept_options
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class ScriptWishes:
    """How a script is run, and what its output is held to; as the options of `heal`."""

    arguments: Sequence[str] = ()
    stdin: str | None = None
    inputs: Mapping[str, str] | None = None
    expect: Sequence[str] = ()
    expect_files: Sequence[str] = ()


class Workbench:
    """Runs for one host: side by side, on one warm sandbox that is opened when it is first needed.

    `sources` are the model and its fallback; without them each run opens those of the settings, as
    it does its own `tracing`.
    Every run has a directory of its own below `settings.home`, and writes nowhere else.
    """

    def __init__(
        self,
        settings: Settings,
        sources: Sequence[ChatSource] = (),
        tracing: Tracing | None = None,
    ) -> None:
        self.settings, self._tracing = settings, tracing
        self._sources = tuple(sources)
        self._stack = ExitStack()
        self._box: TestingSandbox | None = None
        self._slots = threading.Semaphore(max(2, os.cpu_count() or 1))
        self._opening = threading.Lock()

    async def make(
        self,
        specification: str,
        module: str | None = None,
        tests: str | None = None,
        emit: Emit = ignore,
    ) -> Report:
        """Specification → tested code. Raises GreenloopError as `CodingAgent.run` does."""
        text = read_text(specification)
        directory = RunDirectory.create(self.settings.home, text)
        with read_from(directory) as given:
            name = module_of(module, tests, self.settings.allow_list.modules)
            locked = given.tests(name or "given", tests) if tests is not None else ()
        request = self._request(specification=text, module=name, given=locked)
        return await self._run(request, directory, emit)

    async def check(
        self, code: str, tests: str, module: str | None = None, emit: Emit = ignore
    ) -> Report:
        """The grade of code that is there; no model is asked. Raises InputError, SandboxError."""
        directory = RunDirectory.create(self.settings.home, "check")
        with read_from(directory) as given:
            name = self._named(module, tests)
            file = given.put(f"{name}.py", code, "code")
            checked = read_checked(file, [given.put(f"test_{name}.py", tests, "tests")])
        check_directory(self.settings, checked, directory.path)
        return await self._checked(checked, directory, file, emit)

    async def heal(
        self,
        code: str,
        tests: str | None = None,
        module: str | None = None,
        script: ScriptWishes = ScriptWishes(),
        emit: Emit = ignore,
    ) -> Report:
        """Code that is there, repaired: with tests a module, without them a script."""
        directory = RunDirectory.create(self.settings.home, "heal")
        with read_from(directory) as given:
            if tests is None:
                request = self._script_to_heal(given, code, script)
            elif script != ScriptWishes():
                raise InputError("arguments, stdin, inputs, expect…: for scripts, without tests")
            else:
                request = self._module_to_heal(given, code, tests, module)
        return await self._run(request, directory, emit)

    async def agent(self, emit: Emit = ignore) -> CodingAgent:
        """An agent on the shared sandbox. Raises SandboxError where there is none."""
        parts = Parts(self._sources, await self._sandbox(), tracing=self._tracing)
        return CodingAgent(self.settings, parts=parts, emit=emit)

    def close(self) -> None:
        """Ends what the sandbox still runs, and sends what is not sent yet."""
        self._stack.close()
        if self._tracing is not None:
            self._tracing.close()

    # --- requests

    def _request(self, **what: object) -> RunRequest:
        options = with_absolute_replays(kept_options(self.settings))
        request = RunRequest(specification="", options=options, greenloop=own_version())
        return request.model_copy(update=what)

    def _named(self, module: str | None, tests: str) -> str:
        name = module_of(module, tests, self.settings.allow_list.modules)
        if name is None:
            raise InputError("the tests import no module of their own: name it by `module`")
        return name

    def _module_to_heal(
        self, given: Given, code: str, tests: str, module: str | None
    ) -> RunRequest:
        name = self._named(module, tests)
        original = read_original(given.put(f"{name}.py", code, "code"))
        locked = given.tests(name, tests)
        return self._request(kind="heal", original=original, module=name, given=locked)

    def _script_to_heal(self, given: Given, code: str, wishes: ScriptWishes) -> RunRequest:
        if asks_nobody(self.settings):
            raise InputError("this server asks no model, and a search needs tests as its guide")
        original = read_original(given.put("script.py", code, "code"))
        stdin = wishes.stdin
        options = ScriptArguments(
            arguments=tuple(wishes.arguments),
            stdin=given.put("stdin", stdin, "stdin") if stdin is not None else None,
            inputs=given.inputs(wishes.inputs or {}),
            expected=Expected(wishes.expect, wishes.expect_files),
        )
        script = script_request("script.py", options)
        return self._request(kind="heal", original=original, script=script)

    # --- runs

    async def _run(self, request: RunRequest, directory: RunDirectory, emit: Emit) -> Report:
        directory.save_request(request)
        return await (await self.agent(emit)).resume(directory)

    async def _checked(
        self, checked: Checked, directory: RunDirectory, code: Path, emit: Emit
    ) -> Report:
        unknown = SandboxInfo(backend=self.settings.sandbox, isolation="not opened")
        plan = Plan.of(self.settings)
        check = Check(checked.module, checked.code, checked.tests, plan, unknown)
        error: GreenloopError | None = None
        try:
            async with traced(emit, self._tracing) as told:
                await begin_check(await self._sandbox(), check, str(directory.path), told)
                told(RunFinished(check_report(check)))
        except asyncio.CancelledError:
            error = InterruptedRunError("interrupted; nothing is kept to go on with")
            raise
        except GreenloopError as problem:
            error = problem
        finally:
            report, error = saved_check(check_report(check, error), directory, code, error)
        if error is not None:
            error.report = report
            raise error
        return report

    async def _sandbox(self) -> SharedSandbox:
        """A view of the one sandbox. Raises SandboxError where there is none."""
        return SharedSandbox(await asyncio.to_thread(self._opened), self._slots)

    def _opened(self) -> TestingSandbox:
        with self._opening:
            if self._box is None:
                box = self._stack.enter_context(open_sandbox(self.settings))
                assert isinstance(box, TestingSandbox)
                self._box = box
            return self._box
