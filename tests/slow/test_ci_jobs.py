"""The CI jobs of action.yml and examples/ci: each step run with bash in a small repository."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.cli.conftest import KEY
from tests.integration.cli.test_batch import QUICK
from tests.support.change_responses import copy_shop
from tests.support.git import commit_all, git
from tests.support.many_specifications import ManySpecifications, write_specifications
from tests.support.openai_server import OpenAIServer

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "examples/ci/gitlab.yml").read_text())
HOSTILE_INPUT = "$(touch pwned) `touch pwned` ; touch pwned"


def test_actionlint_finds_nothing() -> None:
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("actionlint is not installed")
    command = [actionlint, "-no-color", str(ROOT / "examples/ci/github.yml")]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two specifications, as in a checkout; the runner's folder beside it."""
    room = tmp_path / "repository"
    (room / "src").mkdir(parents=True)
    (tmp_path / "runner").mkdir()
    monkeypatch.chdir(room)
    write_specifications(2)
    return room


def inputs(**given: str) -> dict[str, str]:
    """Return the inputs of the action with their defaults."""
    return {
        name: given.get(name.replace("-", "_"), item["default"])
        for name, item in ACTION["inputs"].items()
    }


def fill_in(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)


def surroundings(runner: Path, **more: str) -> dict[str, str]:
    """Return the variables that GitHub's runner sets; greenloop is the one under test."""
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    files = {
        "RUNNER_TEMP": str(runner),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(runner / "output"),
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
    }
    return base | files | QUICK | {"GREENLOOP_MODEL_BACKOFF": "0"} | more


def step(
    name: str, values: dict[str, str], env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as a runner does."""
    found = next(item for item in ACTION["runs"]["steps"] if item.get("name") == name)
    assert "${{" not in found["run"]  # values come by the environment, never as program text
    own = {key: fill_in(value, values) for key, value in found["env"].items()}
    shell = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", found["run"]]
    return subprocess.run(shell, env=env | own, capture_output=True, text=True, timeout=300)


def pretend_installed(runner: Path) -> None:
    """Return the environment that the first step would have made: that of these tests."""
    place = runner / "greenloop-venv" / "bin"
    place.mkdir(parents=True)
    (place / "greenloop").symlink_to(Path(sys.executable).with_name("greenloop"))


def outputs(runner: Path) -> dict[str, str]:
    """Return the outputs of the step, read as GitHub does, and empty the file for the next step."""
    text = (runner / "output").read_text()
    (runner / "output").unlink()
    found = {}
    while text:
        line, _, text = text.partition("\n")
        name, mark, value = line.partition("<<")
        if mark:
            value, _, text = text.partition(f"{value}\n")
            found[name] = value.strip()
        else:
            name, _, found[line.partition("=")[0]] = line.partition("=")
    return found


def list_requests(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}


def test_the_action_makes_what_is_new_pays_nothing_twice_and_verifies(repository: Path) -> None:
    runner = repository.parent / "runner"
    pretend_installed(runner)
    batch = inputs(args="--max-repairs 1\n--timeout 20")
    with OpenAIServer(ManySpecifications()) as server:
        env = surroundings(runner, **list_requests(server))
        ended = step("Run greenloop", batch, env)
        assert ended.returncode == 0, ended.stderr
        first = outputs(runner)
        assert {first[name] for name in ("reached", "failed")} == {"2", "0"}
        assert first["changed-files"].splitlines()[::3] == ["src/top_0.py", "src/top_1.py"]
        assert len(list(Path(first["report-dir"]).glob("runs/*/report.html"))) == 2
        assert "2 of 2 specifications reached" in (runner / "summary.md").read_text()
        calls = len(server.requests)
        # The next job has another, empty runner: it has only what was committed.
        for item in sorted((runner / "greenloop").rglob("*"), reverse=True):
            item.rmdir() if item.is_dir() else item.unlink()
        ended = step("Run greenloop", batch, env)
        assert ended.returncode == 0, ended.stderr
        again = outputs(runner)
        assert (again["reached"], again["changed-files"]) == ("2", "")
        assert len(server.requests) == calls == 8
    assert KEY not in "".join(item.read_text() for item in runner.rglob("*.json*"))
    assert sorted(item.name for item in repository.iterdir()) == ["specs", "src"]

    verify = inputs(command="verify")
    ended = step("Run greenloop", verify, surroundings(runner))
    assert ended.returncode == 0, ended.stderr
    Path("src/top_1.py").write_text("def top_k(xs, k):\n    return []\n")
    ended = step("Run greenloop", verify, surroundings(runner))
    assert ended.returncode == 1
    assert "src/top_1.greenloop.json: the code top_1.py is not the one" in ended.stdout
    assert "1 of 2 locks hold" in (runner / "summary.md").read_text()


def test_the_text_of_an_input_is_never_executed(repository: Path) -> None:
    runner = repository.parent / "runner"
    pretend_installed(runner)
    values = inputs(
        specs=HOSTILE_INPUT, args=HOSTILE_INPUT, output_dir=HOSTILE_INPUT, model=HOSTILE_INPUT
    )
    assert step("Run greenloop", values, surroundings(runner)).returncode == 2
    values = inputs(command="doctor")
    assert step("Run greenloop", values, surroundings(runner)).returncode == 2
    assert not list(repository.parent.rglob("pwned"))


@pytest.mark.parametrize(
    ("model", "extra"), [("", ""), ("anthropic:claude-sonnet-5", "[anthropic]")]
)
def test_the_installation_sees_no_key(repository: Path, model: str, extra: str) -> None:
    """A stand-in for `python` writes its arguments and environment to a file."""
    runner = repository.parent / "runner"
    fake = runner / "python"
    fake.write_text(
        '#!/bin/sh\necho "$@" >> calls\nenv > seen\n'
        '[ "$2" = venv ] && mkdir -p "$3/bin" && : > "$3/bin/activate"\nexit 0\n'
    )
    fake.chmod(0o755)
    env = surroundings(runner, OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY)
    env["PATH"] = f"{runner}:{env['PATH']}"
    ended = step("Install greenloop", inputs(model=model), env)
    assert ended.returncode == 0, ended.stderr
    assert Path("calls").read_text().splitlines()[-1] == f"-m pip install --quiet {ROOT}{extra}"
    assert KEY not in Path("seen").read_text()


def gitlab(job: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Return the lines of the job; GitLab's runner joins them into a script with `set -e`."""
    # The price of the local server's model is unknown, and a limit in dollars is refused then.
    lines = [line.replace("--max-cost 5", "--max-tokens 99999") for line in GITLAB[job]["script"]]
    variables: dict[str, Any] = {"GREENLOOP_HOME": str(Path(".greenloop").absolute())}
    path = {"PATH": f"{Path(sys.executable).parent}:{env['PATH']}"}
    shell = ["bash", "-eo", "pipefail", "-c", "\n".join(lines)]
    return subprocess.run(
        shell, env=env | variables | path, capture_output=True, text=True, timeout=300
    )


def test_the_gitlab_jobs(repository: Path) -> None:
    runner = repository.parent / "runner"
    with OpenAIServer(ManySpecifications()) as server:
        env = surroundings(runner, **list_requests(server), GREENLOOP_MODEL="openai:gpt-5.4")
        for _ in range(2):
            ended = gitlab("generate", env)
            assert ended.returncode == 0, ended.stderr
        assert len(server.requests) == 8
    for path in GITLAB["generate"]["artifacts"]["paths"]:
        assert Path(path).exists(), path
    assert Path(GITLAB["generate"]["artifacts"]["reports"]["junit"]).exists()
    Path("src/test_top_0.py").write_text("def test_nothing():\n    pass\n")
    ended = gitlab("verify", surroundings(runner))
    assert ended.returncode == 1
    assert "the tests test_top_0.py is not the one that was graded" in ended.stdout
    assert "drift" in Path(GITLAB["verify"]["artifacts"]["reports"]["junit"]).read_text()


def test_the_action_grades_changed_lines_and_keeps_one_comment(repository: Path) -> None:
    runner = repository.parent / "runner"
    pretend_installed(runner)
    shop = copy_shop(repository)
    commit_all(repository)
    with open(shop / "src/shop/prices.py", "a") as file:
        file.write("\n\nLIMIT = 3\n")
    git(repository, "commit", "-q", "-a", "-m", "limit")
    check = inputs(command="check", project="shop", comment="true", require="passed")
    ended = step("Run greenloop", check, surroundings(runner, PYTHONPATH=str(ROOT)))
    assert ended.returncode == 0, ended.stderr
    assert "src/shop/prices.py: +3 -0" in (runner / "summary.md").read_text()

    stub = runner / "greenloop-venv" / "bin" / "gh"
    stub.write_text('#!/bin/bash\necho "$@" >> "$RUNNER_TEMP/calls"\ncat "$RUNNER_TEMP/known"\n')
    stub.chmod(0o755)
    more = {"GITHUB_REPOSITORY": "a/b", "PATH": f"{stub.parent}:{os.environ['PATH']}"}
    for known, call in (
        ("", "--method POST repos/a/b/issues/"),
        ("7\n", "--method PATCH repos/a/b/issues/comments/7 "),
    ):
        (runner / "known").write_text(known)
        ended = step("Comment on the pull request", check, surroundings(runner, **more))
        assert ended.returncode == 0, ended.stderr
        calls = (runner / "calls").read_text()
        assert call in calls.splitlines()[-1]
        assert f"body=@{runner}/greenloop-summary.md" in calls.splitlines()[-1]
    assert (
        (runner / "greenloop-summary.md").read_text().startswith("<!-- greenloop check --diff -->")
    )
