"""Files that `init` proposes for a project: configuration, CI job and pre-commit hook."""

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from greenloop.cli.commands.init.installation import find_test_installation
from greenloop.configuration import PROJECT_FILE, TABLE
from greenloop.versions import format_install_command, is_from_repository

_SETTINGS = f"""{TABLE}
# Options and environment variables come first. Mutants and thresholds can be raised here, not lowered.
timeout = 30
mutants = 100
min-mutation-score = 0.8
# allow-packages = ["numpy"]
"""
_ENVIRONMENT = """# One of these is enough. `greenloop check` needs none.
#OPENAI_API_KEY=
#GREENLOOP_MODEL=ollama:qwen3-coder
"""
_GITHUB_JOB = """name: greenloop
on: pull_request
permissions:
  contents: read
jobs:
  changed-lines:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
        with:
          fetch-depth: 0 # the commit to compare with
      - uses: actions/setup-python@v6
        with:
          python-version: "3.12"
      - run: INSTALL
      - run: PROJECT
      - run: greenloop verify --digests-only
        if: hashFiles('**/*.greenloop.json') != ''
      - run: greenloop check --diff "origin/$GITHUB_BASE_REF" --markdown "$GITHUB_STEP_SUMMARY"
"""
_GITLAB_JOB = """greenloop:
  image: python:3.12
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  variables:
    GIT_DEPTH: 0
  script:
    - INSTALL
    - PROJECT
    - greenloop check --diff "origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
"""
_HOOKS = """repos:
  - repo: local
    hooks:
      - id: greenloop
        name: tests of the changed lines
        entry: greenloop check --diff HEAD --tracked --quiet
        language: system
        types: [python]
        pass_filenames: false
"""
_PROJECT_STEP = re.compile(r".*PROJECT\n")
# A package index may have no package named greenloop, or another one of that name.
_UNKNOWN_SOURCE = 'pip install "git+ADDRESS"'
_SOURCE_HINT = "replace ADDRESS with the address of greenloop's repository"


@dataclass(frozen=True)
class ProposedFile:
    """A file to write as a whole, or to append to."""

    path: Path
    text: str
    hint: str = ""  # what to do next
    otherwise: str = ""  # what to do if the file exists without `command`
    command: str = "greenloop"
    appends: bool = False


def find_repository(root: Path) -> Path:
    """Return the nearest folder with a `.git` at or above `root`; `root` if there is none."""
    places = (root, *root.absolute().parents)
    return next((place for place in places if (place / ".git").exists()), root)


def propose_files(root: Path) -> Iterator[ProposedFile]:
    """Yield the files for a project: configuration, environment, CI job, and pre-commit hook.

    The last two are in the root of the repository, where services look for them.
    """
    yield ProposedFile(root / PROJECT_FILE, _SETTINGS, appends=True)
    yield ProposedFile(root / ".env", _ENVIRONMENT)
    yield ProposedFile(root / ".gitignore", ".env\n.greenloop/\n", appends=True)
    top = find_repository(root)
    folder = os.path.relpath(root, top)
    command = "greenloop check" + ("" if folder == "." else f" --in {shlex.quote(folder)}")
    is_known = is_from_repository()
    install = format_install_command() if is_known else _UNKNOWN_SOURCE
    prepare = _prepare_environment(root, folder)
    job, gitlab_job, hooks = (
        (text if prepare else _PROJECT_STEP.sub("", text))
        .replace("greenloop check", command)
        .replace("INSTALL", install)
        .replace("PROJECT", prepare)
        for text in (_GITHUB_JOB, _GITLAB_JOB, _HOOKS)
    )
    source = "" if is_known else _SOURCE_HINT
    step = f"add a step: {command} --diff ORIGIN"
    if (top / ".gitlab-ci.yml").exists():
        hint = "; ".join(filter(None, ("include it from .gitlab-ci.yml", source)))
        yield ProposedFile(top / ".gitlab" / "greenloop.yml", gitlab_job, hint, step, command)
    else:
        path = top / ".github" / "workflows" / "greenloop.yml"
        yield ProposedFile(path, job, source, step, command)
    yield ProposedFile(
        top / ".pre-commit-config.yaml",
        hooks,
        "enable it with: pre-commit install",
        f"add a local hook with the entry: {command} --diff HEAD --quiet",
        command,
    )


def _prepare_environment(root: Path, folder: str) -> str:
    """Return the command that creates the environment in which `check` runs tests; '' for none."""
    if not (packages := find_test_installation(root)):
        return ""
    python = ".venv/bin/python"
    made = (
        f"python -m venv .venv && {python} -m pip install -q -U pip && {python} -m pip install -q"
    )
    inside = "" if folder == "." else f"cd {shlex.quote(folder)} && "
    return f"{inside}{made} {packages}"
