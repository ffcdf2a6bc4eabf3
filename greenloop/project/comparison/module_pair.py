"""Comparison of one module in two versions of its project, on inputs from the project's tests."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from greenloop.grading.peer.comparison import Comparison, PeerProgram, compare_programs
from greenloop.project.code_map.index import CodeIndex
from greenloop.project.code_map.modules import Module
from greenloop.project.tree import ProjectTree
from greenloop.sandbox import Sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.testsuite import TestFile

_BUDGET_S = 5.0  # approximate time of one comparison


@dataclass(frozen=True)
class ModulePair:
    """A module in two versions of a project."""

    sandbox: Sandbox
    index: CodeIndex  # of the version with the tests whose calls become inputs
    path: str
    tree: ProjectTree
    other: ProjectTree
    wish: str  # the text that asks for the other version
    seed: str

    def compare(
        self,
        interface: str,
        examples: Sequence[str] = (),
        inputs: str = "",
        failing: Collection[str] = (),
    ) -> Comparison:
        """Compare the functions of an interface. Raises SandboxError: no sandbox can run.

        `inputs` is the source of a generator, `failing` names tests that the other version fails.
        """
        return compare_programs(
            ProjectSandbox(self.sandbox, self.tree.project, self.path),
            module=self.index.name_module(self.path),
            code=self.tree.texts[self.path],
            peer=PeerProgram(self.other.texts[self.path], inputs),
            peer_sandbox=ProjectSandbox(self.sandbox, self.other.project, self.path),
            interface=interface,
            specification=self.wish,
            tests=list(self._find_tests()),
            examples=examples,
            seed=self.seed,
            budget_s=_BUDGET_S,
            failing=failing,
        )

    def _find_tests(self) -> Iterator[TestFile]:
        """Yield the test files that use the module."""
        readers = {
            path
            for key, keys in self.index.readers.items()
            if key[0] == self.path
            for path, _ in keys
        }
        for path in sorted(readers):
            if self.index.modules[path].is_test:
                yield TestFile(path, self._rewrite_imports(self.index.modules[path]))

    def _rewrite_imports(self, module: Module) -> str:
        """Return a test file below direct imports of the names that it uses of the module."""
        lines = []
        for item in module.imports:
            key = self.index.find_target(module.path, item)
            path, name = self.index.resolve(key) if key else ("", "")
            if path == self.path and item.name != "*":
                own = self.index.name_module(path)
                imported = f"from {own} import {name}" if name else f"import {own}"
                lines.append(f"{imported} as {item.alias}")
        return "\n".join([*lines, self.tree.texts[module.path]])
