"""The worked example of CONTRIBUTING.md, performed as it is printed there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.model_responses import SPECIFICATION, answers

ROOT = Path(__file__).parents[3]
_BLOCK = re.compile(r"^```\w+\n# file: (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def install_example(site: Path) -> None:
    """Install the example's package into a folder, with the entry point of its pyproject.toml."""
    blocks = dict(_BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    site.mkdir()
    (site / "canned_model.py").write_text(blocks["canned_model.py"], "utf-8")
    info = site / "canned_model-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: canned-model\nVersion: 1.0\n")
    group, entry = re.fullmatch(
        r'\[project\.entry-points\."([\w.]+)"\]\n(.*)\n', blocks["pyproject.toml"]
    ).groups()  # type: ignore[union-attr]
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n".replace('"', ""))


def test_a_provider_is_added_by_an_entry_point(tmp_path: Path) -> None:
    install_example(tmp_path / "site")
    folder = tmp_path / "answers"
    folder.mkdir()
    for tool, texts in answers().items():
        if texts:
            (folder / f"{tool}.md").write_text(texts[0], "utf-8")
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    options = ["--model", f"canned:{folder}", "--sandbox", "none", "--mutants", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "greenloop", SPECIFICATION, "--json", *options],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["tests_passed"]
    assert report["environment"]["model"] == f"canned:{folder}"
