"""Projects with an environment of their own, made without an installation."""

import importlib.metadata
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path


def write_files(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def make_environment(folder: Path, packages: Mapping[str, str] | None = None) -> Path:
    """Make an environment that has pytest by a `.pth` file, and the `packages` (files by path).

    Returns the folder with its packages.
    """
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    write_files(site, {"shared.pth": sysconfig.get_path("purelib") + "\n", **(packages or {})})
    version = importlib.metadata.version("pytest")
    write_files(site, {f"pytest-{version}.dist-info/METADATA": "Name: pytest\n"})
    return site
