"""`init`: the files that it writes, and those that it keeps."""

from pathlib import Path

import pytest
import yaml

from greenloop.cli.commands.init import files
from greenloop.settings import Settings
from tests.integration.cli.conftest import Run


def test_files_are_written_once(run: Run) -> None:
    Path("m.py").write_text("")
    Path("m_test.py").write_text("")
    for copy in (".greenloop/runs/r/best/a.py", "env/lib/b.py", "env/pyvenv.cfg"):
        Path(copy).parent.mkdir(parents=True, exist_ok=True)
        Path(copy).write_text("")
    status, out, _ = run("init")
    assert status == 0
    assert "found    1 module, 1 test file" in out
    assert "try      greenloop check m.py m_test.py" in out
    assert out.count("wrote ") == 5
    assert Settings.load().min_mutation_score == 0.8  # what was written is valid
    job = yaml.safe_load(Path(".github/workflows/greenloop.yml").read_text())
    assert "greenloop check --diff" in str(job["jobs"])
    assert yaml.safe_load(Path(".pre-commit-config.yaml").read_text())["repos"]
    texts = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    status, out, _ = run("init")
    assert (status, out.count("kept ")) == (0, 5)
    assert {path: path.read_bytes() for path in texts} == texts


def test_what_exists_is_kept_or_extended(run: Run) -> None:
    Path("pyproject.toml").write_text('[project]\nname = "x"\n')
    Path(".gitignore").write_text(".env\n*.pyc")
    Path(".pre-commit-config.yaml").write_text("repos: []\n")
    Path(".gitlab-ci.yml").write_text("test: {}\n")
    status, out, _ = run("init")
    assert status == 0
    assert Path("pyproject.toml").read_text().startswith('[project]\nname = "x"\n\n[tool.green')
    assert Path(".gitignore").read_text() == ".env\n*.pyc\n.greenloop/\n"
    assert Path(".pre-commit-config.yaml").read_text() == "repos: []\n"
    assert "add a local hook" in out
    assert "wrote    .gitlab/greenloop.yml; include it from .gitlab-ci.yml" in out
    assert not Path(".github").exists()


def test_a_module_of_a_package_is_proposed_with_its_tests(run: Run) -> None:
    for path in ("shop/__init__.py", "shop/tax.py", "tests/data/b.py", "tests/test_tax.py"):
        Path(path).parent.mkdir(exist_ok=True, parents=True)
        Path(path).write_text("")
    assert "try      greenloop check shop/tax.py tests/test_tax.py\n" in run("init")[1]


def test_a_folder_of_a_repository_gets_its_job_in_the_root(run: Run) -> None:
    Path(".git").mkdir()
    for name in ("one", "two"):
        Path("services", name).mkdir(parents=True)
        Path("services", name, "tax.py").write_text("")
        Path("services", name, "test_all.py").write_text("")
    _, out, _ = run("init", "--in", "services/one")
    assert "try      greenloop check --diff HEAD --in services/one\n" in out
    assert "wrote    ../../.github/workflows/greenloop.yml" in out
    job = Path(".github/workflows/greenloop.yml").read_text()
    assert 'greenloop check --in services/one --diff "origin/$GITHUB_BASE_REF"' in job
    assert "check --in services/one --diff HEAD" in Path(".pre-commit-config.yaml").read_text()
    assert Path("services/one/pyproject.toml").exists()
    _, out, _ = run("init", "--in", "services/two")
    assert "greenloop.yml; add a step: greenloop check --in services/two --diff ORIGIN" in out
    assert "add a local hook with the entry: greenloop check --in services/two --diff HEAD" in out


@pytest.mark.parametrize("is_known", [True, False])
def test_the_job_names_no_package_that_an_index_may_not_have(
    run: Run, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    monkeypatch.setattr(files, "is_from_repository", lambda: is_known)
    out = run("init")[1]
    assert ("replace ADDRESS with" in out) is not is_known
    job = Path(".github/workflows/greenloop.yml").read_text()
    assert "pip install greenloop\n" not in job
    assert ('pip install "git+ADDRESS"' in job) is not is_known


@pytest.mark.parametrize(
    ("files", "packages"),
    [
        ({"m.py": ""}, ""),
        ({"setup.py": ""}, "-e . pytest"),
        (
            {"pyproject.toml": "[project]\nname = 'x'\noptional-dependencies.test = []\n"},
            "-e '.[test]' pytest",
        ),
        (
            {"pyproject.toml": "[project]\nname = 'x'\n[dependency-groups]\ndev = []\n"},
            "-e . --group dev pytest",
        ),
        ({"m.py": "", "requirements-dev.txt": ""}, "-r requirements-dev.txt pytest"),
        ({"pyproject.toml": "[project"}, ""),
    ],
)
def test_the_job_installs_the_project_with_its_tests(
    run: Run, files: dict[str, str], packages: str
) -> None:
    for name, text in files.items():
        Path(name).write_text(text)
    run("init")
    job = yaml.safe_load(Path(".github/workflows/greenloop.yml").read_text())
    steps = [step.get("run", "") for step in job["jobs"]["changed-lines"]["steps"]]
    installed = [step.partition(" -m pip install -q ")[2] for step in steps if ".venv" in step]
    assert [step.rpartition(" install -q ")[2] for step in installed] == [packages] * bool(packages)
