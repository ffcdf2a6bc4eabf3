"""Measurements on project modules in processes without tests."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from greenloop.grading import GradingContext, Plan, held_out_examples
from greenloop.grading.memorization import evidence as memorization
from greenloop.grading.observation import isolation
from greenloop.project.code_map.index import CodeIndex, build_index
from greenloop.project.code_map.interface import find_module, select_module
from greenloop.project.code_map.modules import parse_module
from greenloop.project.runner import ProjectRunner
from greenloop.records import (
    Baseline,
    HeldOut,
    HeldOutExample,
    Isolated,
    Memorization,
    NotObservable,
    TestRun,
)
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import name_imports_fully
from greenloop.testsuite.parser import parse_test_functions, remove_tests

_NO_MODULE = "no import of the file names a module of the project"


@dataclass(frozen=True)
class CalledModules:
    """Modules of a project that new tests, or held-out examples of an interface, call."""

    runner: ProjectRunner
    baseline: Baseline
    new_tests: Sequence[str]  # node ids
    plan: Plan
    interface: str
    changed: Mapping[str, Set[int]]  # lines by path
    why_no_test: str = ""

    @cached_property
    def _index(self) -> CodeIndex:
        return build_index(self._texts)

    @property
    def _texts(self) -> Mapping[str, str]:
        return self.runner.tree.texts

    @cached_property
    def _new(self) -> set[str]:
        return {test.partition("[")[0] for test in self.new_tests}

    def measure_isolation(self) -> Isolated | str:
        """Run the programs of the new tests in a process without tests. Raises SandboxError."""
        if not self.new_tests:
            return self.why_no_test
        if not self._contexts:
            return self._observe_none()
        return isolation.measure_modules(self._contexts)

    def _observe_none(self) -> Isolated:
        """Return the evidence for tests whose imports name no module of the project."""
        paths = sorted({name.partition("::")[0] for name in self._new})
        found = {
            f"{path}::{test.name}": test.first_line
            for path in paths
            for test in parse_test_functions(self._texts[path])
        }
        refused = tuple(
            NotObservable(test=name, line=found.get(name, 0), reason=_NO_MODULE)
            for name in sorted(self._new)
        )
        return Isolated(
            reached=True, tests=len(refused), observed=0, agreed=0, not_observable=refused
        )

    def measure_memorization(self) -> Memorization | str | None:
        """Call the changed modules on the new tests' inputs and variants. Raises SandboxError."""
        if not self.new_tests:
            return self.why_no_test
        found = [(item, self._list_changed(item.module)) for item in self._contexts]
        return memorization.measure_modules([(item, lines) for item, lines in found if lines])

    def _list_changed(self, module: str) -> Set[int]:
        return self.changed.get(find_module(self._index, module) or "", frozenset())

    @cached_property
    def _contexts(self) -> list[GradingContext]:
        paths = sorted({name.partition("::")[0] for name in self._new})
        return [item for path in paths for item in self._separate(path)]

    def _separate(self, path: str) -> Iterator[GradingContext]:
        """Yield a context for each module that a test file imports, with the tests that call it."""
        left = {name.partition("::")[2] for name in self._new if name.startswith(f"{path}::")}
        modules = self._list_imported(path)
        for module, source in modules.items():
            context = self._build(module, source, TestFile(path, self._cut(path, left)))
            plan = isolation.plan_programs(context, context.tests[0])
            found = left.intersection(item.test for item in plan.programs)
            if module == list(modules)[-1]:
                found = left  # adds the reasons why the remaining tests are not observable
            if found:
                yield self._build(module, source, TestFile(path, self._cut(path, found)))
            left = left - found

    def _list_imported(self, path: str) -> Mapping[str, str]:
        """Return the paths of the project's modules that a test file imports, most used first."""
        found: Counter[str] = Counter()
        text = name_imports_fully(self._texts[path], path, self._texts)
        for item in parse_module(path, text).imports:
            target = self._index.find_target(path, item)
            is_module = target and not target[1] and item.name not in ("", "*")
            found[f"{item.module}.{item.name}" if is_module else item.module] += 1
        named = ((name, self._find_module(name)) for name, _ in found.most_common())
        return {name: source for name, source in named if source}

    def _find_module(self, name: str) -> str | None:
        """Return the path of a module, also if it is in a `pythonpath` folder and run by tests."""
        ends = tuple(f"/{name.replace('.', '/')}{end}" for end in (".py", "/__init__.py"))
        run = [path for path in self.baseline.reached if f"/{path}".endswith(ends)]
        return find_module(self._index, name) or (run[0] if len(run) == 1 else None)

    def _cut(self, path: str, names: Collection[str]) -> str:
        """Return a test file with only the named tests."""
        text = self._texts[path]
        return remove_tests(text, {i.name for i in parse_test_functions(text)}.difference(names))

    def _build(self, module: str, source: str, *tests: TestFile) -> GradingContext:
        box = ProjectSandbox(self.runner.box, self.runner.tree.project, source)
        first = TestRun(ending="finished")
        return GradingContext(box, self._texts[source], tests, module, first, self.plan)

    def measure_held_out(self, examples: Sequence[HeldOutExample]) -> HeldOut | str | None:
        """Compare the answers of the interface's modules with examples. Raises SandboxError."""
        by_module: dict[str, list[HeldOutExample]] = {}
        for item in examples:
            by_module.setdefault(select_module(self.interface, item.call), []).append(item)
        contexts = []
        for module, items in by_module.items():
            source = find_module(self._index, module)
            if source is None:
                return "the interface names a module that the project does not have"
            contexts.append(replace(self._build(module, source), held_out=items))
        return held_out_examples.measure_modules(contexts) if contexts else None
