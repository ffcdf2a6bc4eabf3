"""The request of a change of a project."""

from pathlib import Path
from typing import Literal

from greenloop.project.tree import read_tree
from greenloop.workflow.storage.request import ContractRequest


class ChangeRequest(ContractRequest):
    """A wish to fulfil in a project; paths of `given` tests are relative to the project."""

    kind: Literal["change"] = "change"
    root: str  # the project's folder
    fence: tuple[str, ...] = ()  # globs of files that may change
    may_change: tuple[str, ...] = ()  # node ids of tests that the wish may contradict
    measures_baseline: bool = True  # run the project's tests before the change
    apply: bool = False  # write the changed files to the working tree
    branch: str | None = None  # commit the changed files on this new branch
    run_hooks: bool = False  # commit with the project's git hooks

    @property
    def code_file_name(self) -> str:
        return "patch.diff"

    @property
    def project_root(self) -> str:
        return self.root

    def list_recorded_texts(self) -> tuple[str, ...]:
        """Return the wish and the Python files; others, such as a recording, do not count."""
        files = sorted(read_tree(Path(self.root)).texts.items())
        return (self.specification, *(f"{path}\n{text}" for path, text in files))
