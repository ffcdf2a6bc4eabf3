"""The service behind the integrations: make, check, heal, change on one shared sandbox."""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import astuple, replace
from pathlib import Path

from greenloop.agent import CodingAgent
from greenloop.app.check import check_files, create_check_directory
from greenloop.app.gate.run import GateAnswer, GateRequest, inspect_changes
from greenloop.app.gate.settings import replace_project_settings
from greenloop.app.inputs.change_files import check_fence, check_project, check_unlocked
from greenloop.app.inputs.check_files import read_check_inputs
from greenloop.app.inputs.heal_files import read_original
from greenloop.app.requests import ScriptArguments, build_request, build_script_request
from greenloop.errors import InputError, InterruptedRunError
from greenloop.events import EventSink, ignore_event
from greenloop.files import validate_text
from greenloop.integrations.input_files import InputFolder, choose_module_name, open_input_folder
from greenloop.llm.chat import ChatSource
from greenloop.records import Report
from greenloop.sandbox import open_sandbox
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.views.jobs import ThrottledSandbox
from greenloop.settings import Settings
from greenloop.tracing.setup import Tracing
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.heal.request import HealModuleRequest, HealScriptRequest
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.setup.runtime import SharedResources
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory


def _find_folder(folder: str) -> Path:
    """Return a folder below the working folder. Raises InputError for another one."""
    root = (Path.cwd() / folder).resolve()
    if not root.is_relative_to(Path.cwd().resolve()):
        raise InputError(f"folder: {folder} leads out of the folder that this server works in")
    return root


class AgentService:
    """Concurrent runs for one client, on one warm sandbox that is opened at the first run.

    `sources` are the model and its fallback; without them each run opens those of the settings.
    Without `tracing`, each run opens its own. Each run has a directory of its own below
    `settings.home`, and writes nowhere else.
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
        self._base_sandbox: Sandbox | None = None
        self._slots = threading.Semaphore(max(2, os.cpu_count() or 1))
        self._open_lock = threading.Lock()

    async def make(
        self,
        specification: str,
        module: str | None = None,
        tests: str | None = None,
        emit: EventSink = ignore_event,
    ) -> Report:
        """Make tested code of a specification. Raises GreenloopError as `CodingAgent.run` does."""
        text = validate_text(specification)
        directory = RunDirectory.create(self.settings.home, text)
        with open_input_folder(directory) as given:
            name = choose_module_name(module, tests, self.settings.allow_list.import_names)
            locked = given.write_tests(name or "given", tests) if tests is not None else ()
        fields = {"specification": text, "module": name, "given": locked}
        request = build_request(MakeRequest, self.settings, **fields)
        return await self._execute_request(request, directory, emit)

    async def check(
        self, code: str, tests: str, module: str | None = None, emit: EventSink = ignore_event
    ) -> Report:
        """Grade existing code without a model. Raises InputError, SandboxError."""
        directory = RunDirectory.create(self.settings.home, "check")
        with open_input_folder(directory) as given:
            name = self._require_module_name(module, tests)
            file = given.write(f"{name}.py", code, "code")
            checked = read_check_inputs(file, [given.write(f"test_{name}.py", tests, "tests")])
        create_check_directory(self.settings, checked, directory.path)
        report, error = await check_files(
            checked, file, directory, self.settings, self._create_sandbox_view, emit, self._tracing
        )
        if isinstance(error, InterruptedRunError):
            raise asyncio.CancelledError
        if error is not None:
            error.report = report
            raise error
        return report

    async def heal(
        self,
        code: str,
        tests: str | None,
        module: str | None,
        script: ScriptArguments,
        stdin: str | None,
        inputs: Mapping[str, str] | None,
        emit: EventSink,
    ) -> Report:
        """Repair existing code: a module if tests are given, else a script.

        `stdin` and `inputs` (by relative path) are texts, which are written to files of the run.
        """
        directory = RunDirectory.create(self.settings.home, "heal")
        with open_input_folder(directory) as given:
            if tests is None and module is not None:
                raise InputError(
                    "module: only with tests; without them the code is run as a script"
                )
            if tests is None:
                request = self._script_heal_request(given, code, script, stdin, inputs or {})
            elif any((*astuple(script), stdin, inputs)):
                raise InputError("arguments, stdin, inputs, expect…: for scripts, without tests")
            else:
                request = self._module_heal_request(given, code, tests, module)
        return await self._execute_request(request, directory, emit)

    async def change(
        self,
        wish: str,
        folder: str = ".",
        fence: Sequence[str] = (),
        may_change: Sequence[str] = (),
        emit: EventSink = ignore_event,
    ) -> Report:
        """Make a patch for a wish and the project in a folder below the working folder."""
        request = self.build_change(wish, _find_folder(folder), fence, may_change)
        directory = RunDirectory.create(self.settings.home, request.specification)
        return await self._execute_request(request, directory, emit)

    async def check_changes(
        self,
        folder: str = ".",
        base: str | None = None,
        time_s: float | None = None,
        emit: EventSink = ignore_event,
    ) -> GateAnswer:
        """Return what the changes of a project lack, without a model.

        The base and the project's settings are those of `greenloop gate`.

        Raises:
            InputError: there is no repository or no such commit.
            OutputError: git failed.
            SettingsError: the project's settings at the base are invalid.
        """
        request = GateRequest(_find_folder(folder), base or "", time_s)
        settings = replace_project_settings(self.settings, request)
        return await inspect_changes(request, settings, self._create_sandbox_view, emit)

    def build_change(
        self, wish: str, folder: Path, fence: Sequence[str] = (), may_change: Sequence[str] = ()
    ) -> RunRequest:
        """Return the request for a change of a project. Raises InputError."""
        root = check_project(folder, None)
        fields = {"fence": check_fence(fence), "may_change": check_unlocked(root, may_change)}
        return build_request(
            ChangeRequest,
            self.settings,
            specification=validate_text(wish),
            root=str(root),
            **fields,
        )

    async def create_agent(self, emit: EventSink = ignore_event) -> CodingAgent:
        """Return an agent on the shared sandbox. Raises SandboxError if it cannot be opened."""
        parts = SharedResources(
            self._sources, await self._create_sandbox_view(), tracing=self._tracing
        )
        return CodingAgent(self.settings, resources=parts, emit=emit)

    def close(self) -> None:
        """Close the sandbox, and send the remaining traces."""
        self._stack.close()
        if self._tracing is not None:
            self._tracing.close()

    def _require_module_name(self, module: str | None, tests: str) -> str:
        name = choose_module_name(module, tests, self.settings.allow_list.import_names)
        if name is None:
            raise InputError("the tests import no module under test: name it with `module`")
        return name

    def _module_heal_request(
        self, folder: InputFolder, code: str, tests: str, module: str | None
    ) -> RunRequest:
        name = self._require_module_name(module, tests)
        original = read_original(folder.write(f"{name}.py", code, "code"))
        locked = folder.write_tests(name, tests)
        fields = {"original": original, "module": name, "given": locked}
        return build_request(HealModuleRequest, self.settings, **fields)

    def _script_heal_request(
        self,
        folder: InputFolder,
        code: str,
        options: ScriptArguments,
        stdin: str | None,
        inputs: Mapping[str, str],
    ) -> RunRequest:
        if self.settings.is_model_disabled:
            raise InputError("this server has no model, and a repair by search needs tests")
        original = read_original(folder.write("script.py", code, "code"))
        options = replace(
            options,
            stdin=folder.write("stdin", stdin, "stdin") if stdin is not None else None,
            input=folder.write_inputs(inputs),
        )
        script = build_script_request("script.py", options)
        return build_request(HealScriptRequest, self.settings, original=original, script=script)

    async def _execute_request(
        self, request: RunRequest, directory: RunDirectory, emit: EventSink
    ) -> Report:
        directory.save_request(request)
        return await (await self.create_agent(emit)).resume(directory)

    async def _create_sandbox_view(self) -> Sandbox:
        """Return a throttled view of the shared sandbox. Raises SandboxError."""
        return ThrottledSandbox(await asyncio.to_thread(self._open_base_sandbox), self._slots)

    def _open_base_sandbox(self) -> Sandbox:
        with self._open_lock:
            if self._base_sandbox is None:
                sandbox = self._stack.enter_context(open_sandbox(self.settings))
                assert isinstance(sandbox, Sandbox)
                self._base_sandbox = sandbox
            return self._base_sandbox
