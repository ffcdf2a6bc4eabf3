"""Trees of projects: the files of git and of folders without it; nothing of git's runs."""

from pathlib import Path

import pytest

from greenloop.app.inputs.project_module import read_module
from greenloop.project.diff import read_diff
from greenloop.project.environment.project_copy import copy_project
from greenloop.project.tree import read_tree
from greenloop.settings import Settings
from tests.support.git import commit_all, git
from tests.support.project_environments import write_files


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def paths(root: Path) -> list[str]:
    return sorted(item.path for item in read_tree(root).project.files)


def test_git_decides_which_files_there_are(tmp_path: Path) -> None:
    write(tmp_path, a_dot_py="a = 1\n", _dot_gitignore="ignored.py\n", sub__b_dot_py="b = 1\n")
    commit_all(tmp_path)
    write(tmp_path, ignored_dot_py="x\n", new_dot_py="n = 1\n", _dot_env="KEY=1\n")
    (tmp_path / "a.py").unlink()
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    tree = read_tree(tmp_path)
    assert sorted(item.path for item in tree.project.files) == [".gitignore", "new.py", "sub/b.py"]
    assert len(tree.base) == 40
    assert [item.path for item in read_tree(tmp_path / "sub").project.files] == ["b.py"]


def test_a_tracked_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "in", tmp_path / "out"
    write(root, sub__b_dot_py="b = 1\n", c_dot_py="")
    commit_all(root)
    write(outside, b_dot_py="secret = 1\n")
    (root / "sub" / "b.py").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    assert paths(root) == ["c.py"]


def test_without_git_all_files_are_read(tmp_path: Path) -> None:
    write(tmp_path, a_dot_py="a = 1\n", _dot_gitignore="a.py\n")
    tree = read_tree(tmp_path)
    assert sorted(tree.texts) == ["a.py"]
    assert tree.base == ""


def test_a_version_file_that_a_build_writes_is_there(tmp_path: Path) -> None:
    text = '[tool.hatch]\nbuild.hooks.vcs.version-file = "src/shop/_version.py"\n'
    write(tmp_path, pyproject_dot_toml=text)
    (tmp_path / "src/shop").mkdir(parents=True)
    (tmp_path / "src/shop/__init__.py").write_text("")
    assert '__version__ = version = "0.0.0"' in read_tree(tmp_path).texts["src/shop/_version.py"]


def test_filters_hooks_and_monitors_of_the_project_do_not_run(tmp_path: Path) -> None:
    write(tmp_path, a_dot_py="a = 1\n", _dot_gitattributes="*.py filter=evil diff=evil\n")
    commit_all(tmp_path)
    for key in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process"):
        git(tmp_path, "config", key, f"touch {tmp_path}/pwned; cat")
    for key in ("core.fsmonitor", "diff.evil.textconv", "diff.external", "core.pager"):
        git(tmp_path, "config", key, f"touch {tmp_path}/pwned")
    (tmp_path / "a.py").write_text("a = 2\nb = 1\n")
    (tmp_path / "new.py").write_text("n = 1\n")
    assert read_diff(tmp_path, "HEAD").lines == {"a.py": {1, 2}, "new.py": {1}}
    found = read_diff(tmp_path, "HEAD", tracked=True)
    assert found.lines == {"a.py": {1, 2}}
    assert found.before == {"a.py": "a = 1\n"}
    assert "pwned" not in {item.name for item in tmp_path.iterdir()}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_are_no_change(tmp_path: Path, end: str) -> None:
    write(tmp_path, a_dot_py="a = 1\nb = 1\n", c_dot_py="")
    commit_all(tmp_path)
    (tmp_path / "a.py").write_bytes(f"a = 1{end}b = 2{end}".encode())
    assert read_diff(tmp_path, "HEAD").lines == {"a.py": {2}}


def test_changed_files_keep_their_places(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("x = 1\n")
    changed = read_tree(tmp_path).with_changes({"a.py": "x = 2\n", "b.py": None, "d.py": ""})
    assert list(changed.texts) == ["a.py", "c.py", "d.py"]


def test_files_of_a_submodule_are_read_and_are_no_change(tmp_path: Path) -> None:
    library, root = tmp_path / "library", tmp_path / "project"
    write(library, helpers_dot_py="h = 1\n")
    commit_all(library)
    write(root, a_dot_py="a = 1\n")
    commit_all(root)
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "vendor")
    commit_all(root)
    write(root, a_dot_py="a = 2\n")
    assert paths(root) == [".gitmodules", "a.py", "vendor/helpers.py"]
    assert read_diff(root, "HEAD").lines == {"a.py": {1}}


def test_own_metadata_stand_for_an_installation(tmp_path: Path) -> None:
    text = "[metadata]\nname = pkg-x\nversion = 1.2\n[options.entry_points]\nplugs =\n  up = x:up\n"
    write(tmp_path, setup_dot_cfg=text)
    project = read_tree(tmp_path).project
    assert b"Version: 1.2" in project.all_files["pkg_x-1.2.dist-info/METADATA"]
    assert b"up = x:up" in project.all_files["pkg_x-1.2.dist-info/entry_points.txt"]
    assert list(project.own_files) == ["setup.cfg"]


def test_the_copy_has_keys_of_tests_but_no_secret(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    key = "-----BEGIN PRIVATE KEY-----\n" + "A" * 40
    write_files(
        root,
        {
            ".gitignore": "*.so\n.venv\n",
            ".venv/pyvenv.cfg": "",
            "src/shop/__init__.py": "",
            "src/shop/fast.so": "built",
            "src/shop/new.py": "",
            ".env": "KEY=1",
            "deploy.txt": key,
            "tests/key.pem": key,
            "src/shop/__pycache__/x.pyc": "",
            ".hypothesis/unicode_data/15/charmap.gz": "",
            ".hypothesis/examples/a": "",
        },
    )
    commit_all(root)
    write_files(root, {"tests/mine.pem": key})
    (root / "link").symlink_to("/etc/passwd")
    copy_project(root, tmp_path / "copy", {"src/shop/new.py"})
    found = {str(i.relative_to(tmp_path / "copy")) for i in (tmp_path / "copy").rglob("*")}
    assert found == {
        *(".gitignore", "link", "src", "src/shop"),
        *("src/shop/__init__.py", "src/shop/fast.so", "tests", "tests/key.pem"),
        *(".hypothesis", ".hypothesis/unicode_data", ".hypothesis/unicode_data/15"),
        ".hypothesis/unicode_data/15/charmap.gz",
    }
    assert (tmp_path / "copy/link").is_symlink()


def test_options_of_pytest_above_a_project_hold_for_it(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = -ra\n", "one/setup.cfg": "", "one/a.py": ""}
    write_files(tmp_path, {**files, "one/test_a.py": "import a\n\ndef test_a(): pass\n"})
    commit_all(tmp_path)
    read = read_module(tmp_path / "one/a.py", [tmp_path / "one/test_a.py"], Settings())
    assert (read.root, read.path, read.module) == (tmp_path, "one/a.py", "a")
    write_files(tmp_path, {"one/a.py": "A = 1\n", "two.py": "B = 1\n"})
    found = read_diff(tmp_path / "one", "HEAD")
    assert (found.tree.scope, found.lines) == ("one", {"one/a.py": {1}})
    write_files(tmp_path, {"one/pytest.ini": ""})  # shadows them
    assert read_diff(tmp_path / "one", "HEAD").tree.scope == ""
