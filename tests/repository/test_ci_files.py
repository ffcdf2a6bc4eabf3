"""The CI files fit the schemas of their services."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {
    "vendor.github-actions": "action.yml",
    "vendor.github-workflows": "examples/ci/github.yml",
    "vendor.gitlab-ci": "examples/ci/gitlab.yml",
}


@pytest.mark.parametrize("schema", FILES)
def test_the_files_fit_their_schemas(schema: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
    ended = subprocess.run([*command, str(ROOT / FILES[schema])], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
