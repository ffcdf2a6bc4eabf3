"""Adapter that lets measurements for a module's tests run the new tests of a project."""

from collections.abc import Sequence
from typing import Any

from greenloop.grading import GradingContext, Plan
from greenloop.project.runner import ProjectRunner
from greenloop.records import TestRun
from greenloop.sandbox.base import SandboxView
from greenloop.testsuite import TestFile


class _NewTests(SandboxView):
    """Sandbox that runs a project's new tests, with the file texts that a measurement gives."""

    def __init__(self, runner: ProjectRunner, tests: Sequence[str]) -> None:
        super().__init__(runner.box)
        self._runner, self._tests = runner, tests

    def run_tests(
        self,
        code: str,
        tests: str | Sequence[TestFile],
        *,
        module: str | None = None,
        doctests: bool = False,
        timeout_s: float | None = None,
        **options: Any,
    ) -> TestRun:
        """Run the new tests on the project; `code` is ignored, and no lines are recorded."""
        options.pop("hits", None)
        files = {item.name: item.code for item in tests if isinstance(item, TestFile)}
        return self._runner.run(files, self._tests, timeout_s=timeout_s, **options)


def build_context(
    runner: ProjectRunner, paths: Sequence[str], tests: Sequence[str], plan: Plan
) -> GradingContext | str:
    """Return the context that measures new tests of the files in `paths`, or why there is none.

    Raises SandboxError: no process can be started.
    """
    names = sorted({test.partition("[")[0] for test in tests})
    texts = runner.tree.texts
    files = [TestFile(path, texts[path]) for path in sorted({i.partition("::")[0] for i in names})]
    view, code = _NewTests(runner, names), "\n".join(texts[path] for path in paths)
    module = paths[0].removeprefix("src/").partition("/")[0].removesuffix(".py") if paths else ""
    first = view.run_tests(code, files)
    if first.ending != "finished" or not first.passed_count:
        return f"the new tests do not pass alone ({first.ending})"
    return GradingContext(view, code, files, module, first, plan)
