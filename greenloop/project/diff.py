"""Changes of a project's files since a commit."""

import hashlib
from collections.abc import Collection, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from greenloop.errors import InputError, OutputError
from greenloop.project.changed_lines import (
    find_changed_lines,
    find_untouched_lines,
    has_same_statements,
)
from greenloop.project.git import find_commit, run_git
from greenloop.project.patch import apply_patch, diff_files
from greenloop.project.snapshot import check_folder
from greenloop.project.tree import ProjectTree, read_whole_tree
from greenloop.testsuite.parser import is_test_path

_MAX_SHOWN_CHARS = 200
_DEEPEN = "this clone is shallow: run `git fetch --unshallow` (in CI: fetch-depth: 0)"
_EMPTY_TREES = ("4b825dc642cb", "6ef19b41225c")  # by SHA-1 and SHA-256
_DEFAULT_BRANCHES = ("origin/main", "origin/master", "main", "master")


@dataclass(frozen=True)
class ProjectDiff:
    """A project and the earlier state of the files that have changed since a commit.

    `all_before` has the old texts of changed files, None for a new file; bytes that are no UTF-8
    are surrogate escapes in files other than Python.
    """

    tree: ProjectTree
    commit: str
    all_before: dict[str, str | None]

    @cached_property
    def before(self) -> dict[str, str | None]:
        """The old texts of changed Python files."""
        return {path: text for path, text in self.all_before.items() if path.endswith(".py")}

    @cached_property
    def data(self) -> dict[str, str | None]:
        """The old texts of the other changed files in test folders."""
        others = self.all_before.keys() - self.before.keys()
        return {path: self.all_before[path] for path in sorted(others) if is_test_path(path)}

    @property
    def since(self) -> str:
        """The start of the changes, as a phrase for messages."""
        is_new = self.commit.startswith(_EMPTY_TREES)
        return "before its first commit" if is_new else f"since {self.commit[:12]}"

    def patch_without(self, paths: Collection[str]) -> str:
        """Return the patch from the commit to the present files, without those of `paths`."""
        after = {path: self.tree.texts.get(path) for path in self.before if path not in paths}
        return diff_files(self.texts_before, after)

    @cached_property
    def lines(self) -> dict[str, Set[int]]:
        """The new and changed line numbers by file; empty if only comments or docstrings differ."""
        return {
            path: _find_new_lines(text or "", now)
            for path, text in self.before.items()
            if (now := self.tree.texts.get(path)) is not None
        }

    @property
    def texts_before(self) -> dict[str, str]:
        """The texts of all Python files at the commit."""
        merged = {**self.tree.texts, **self.before}
        return {path: text for path, text in merged.items() if text is not None}


def _find_new_lines(before: str, after: str) -> Set[int]:
    if has_same_statements(before, after):
        return set()
    old, new = (text.replace("\r\n", "\n") for text in (before, after))
    return find_changed_lines(old, new)[1] - find_untouched_lines(old, new)


def read_diff(root: Path, ref: str, *, tracked: bool = False) -> ProjectDiff:
    """Read a project and its changes since a commit, without changing the repository.

    With `tracked` files that git does not track are left out. If HEAD does not descend from the
    commit (a main branch with newer commits), the changes are those since the merge base.
    Raises InputError: there is no such folder or commit, no git, no Python file, or too many files.
    """
    check_folder(root)
    try:
        run_git(root, "rev-parse", "--git-dir")
    except OutputError as error:
        place = root if str(root) != "." else "the working folder"
        raise InputError(f"a git repository is needed: {place} has none ({error})") from None
    commit = _find_base(root, ref)
    tree = read_whole_tree(root, tracked=tracked)
    scope = f"{tree.scope}/" if tree.scope else ""
    if not any(path.startswith(scope) for path in tree.texts):
        raise InputError(f"no Python files in {root}: name the project's folder with --in")
    return ProjectDiff(tree, commit, dict(_read_old_texts(Path(tree.root), commit, tree)))


def find_default_branch(root: Path) -> str:
    """Return the repository's default branch, or HEAD if it is not known."""
    with suppress(OutputError):
        return run_git(root, "symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD").strip()
    for name in _DEFAULT_BRANCHES:
        with suppress(OutputError):
            run_git(root, "rev-parse", "--verify", "-q", f"{name}^{{commit}}")
            return name
    return "HEAD"


def _find_base(root: Path, ref: str) -> str:
    """Return the commit to compare with, or the empty tree if there is no commit yet."""
    if ref == "HEAD" and not find_commit(root):
        return run_git(root, "hash-object", "-t", "tree", "--stdin").strip()
    try:
        spec = f"{ref}^{{commit}}"
        commit = run_git(root, "rev-parse", "--verify", "-q", "--end-of-options", spec).strip()
    except OutputError:
        raise InputError(
            f"--diff: no such commit here: {ref[:_MAX_SHOWN_CHARS]!r}; {_suggest_commit(root)}"
        ) from None
    base = ""
    with suppress(OutputError):
        base = run_git(root, "merge-base", "HEAD", commit).strip()
    if not base and _is_shallow(root):
        shown = ref[:_MAX_SHOWN_CHARS]
        raise InputError(f"--diff: where {shown!r} and HEAD part is not known: {_DEEPEN}")
    return base or commit


def _suggest_commit(root: Path) -> str:
    """Return advice for the message about a commit that the repository does not have."""
    if not find_commit(root):
        return "make a first one"
    if _is_shallow(root):
        return _DEEPEN
    return "name a commit, a branch or a tag, such as HEAD or origin/main"


def _is_shallow(root: Path) -> bool:
    return run_git(root, "rev-parse", "--is-shallow-repository").strip() == "true"


def build_patch_diff(tree: ProjectTree, commit: str, patch: str) -> ProjectDiff:
    """Return the diff of a patch, which is applied unless the project contains it already.

    Raises InputError: the patch matches the project neither forward nor in reverse.
    """
    try:
        before = apply_patch(tree.texts, patch, reverse=True)
    except InputError:
        changes = apply_patch(tree.texts, patch)
        before = {path: tree.texts.get(path) for path in changes}
        tree = tree.with_changes(changes)
    return ProjectDiff(tree, commit, before)


def _read_old_texts(root: Path, commit: str, tree: ProjectTree) -> Iterator[tuple[str, str | None]]:
    """Yield changed files with old texts, compared by blob digest so that no git filter runs."""
    listed = run_git(root, "ls-tree", "-r", "-z", commit).split("\0")
    entries = dict(item.split("\t", 1)[::-1] for item in listed if "\t" in item)
    contents = tree.project.all_files
    submodules = tuple(f"{path}/" for path, item in entries.items() if item.startswith("160000"))
    scope = f"{tree.scope}/" if tree.scope else ""
    known = {path for path in {*contents, *entries} if path.startswith(scope)}
    for path in sorted(item for item in known if not item.startswith(submodules)):
        mode, kind, name = entries.get(path, "- - -").split(" ")[:3]
        is_read, is_there = path in contents, (root / path).exists()
        if kind == "-":
            if is_there and path not in tree.project.generated:
                yield path, None
        elif mode.startswith("100") and is_read == is_there:
            same = is_read and _is_blob(contents[path], name)
            if not same:
                errors = "replace" if path.endswith(".py") else "surrogateescape"
                yield path, run_git(root, "cat-file", "blob", name, errors=errors)


def _is_blob(content: bytes, name: str) -> bool:
    algorithm = "sha1" if len(name) == 40 else "sha256"
    head = b"blob %d\0" % len(content)
    return hashlib.new(algorithm, head + content, usedforsecurity=False).hexdigest() == name
