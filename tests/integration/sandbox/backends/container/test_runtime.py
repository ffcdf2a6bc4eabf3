"""Choice of the container engine, and the messages where none works."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from greenloop.dependencies import InstalledPackages
from greenloop.errors import SandboxError
from greenloop.sandbox import open_sandbox
from greenloop.sandbox.backends.container.command import ContainerConfig, build_start_command
from greenloop.sandbox.backends.container.runtime import (
    ContainerEngine,
    find_engine,
    suggest_remedy,
)
from greenloop.sandbox.limits import ResourceLimits
from greenloop.settings import Settings
from tests.integration.sandbox.conftest import container_engine, skip_reason
from tests.support.container_image import IMAGE

PODMAN = ContainerEngine("podman", "/usr/bin/podman", "5.0.0", "python:3.11-slim")


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the only folder on the search path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def refusal(**settings: str) -> str:
    with pytest.raises(SandboxError) as caught:
        open_sandbox(Settings.load(sandbox="container", **settings))
    assert caught.value.exit_status == 4
    return str(caught.value).partition(". To get one")[0]


def test_missing_engines_are_named(only: Path) -> None:
    error = refusal()
    assert error == "--sandbox container: podman is not installed; docker is not installed"


def test_engine_that_does_not_answer_is_named(only: Path) -> None:
    program(only, "docker", "echo 'Cannot connect to the daemon. Is it running?' >&2; exit 1")
    assert refusal(container_engine="docker") == (
        "--sandbox container: docker does not answer: Cannot connect to the daemon. Is it running"
    )
    assert "podman" not in refusal()  # engines that are not installed are left out then


def test_missing_image_is_reported_with_the_pull_command(only: Path) -> None:
    program(only, "podman", '[ "$1" = info ] && echo 5.0.0 crun')
    error = refusal(container_image="python:9")
    assert "podman has no image python:9: get it with `podman pull python:9`" in error


def test_auto_selects_the_engine_that_has_the_image(only: Path) -> None:
    program(only, "podman", '[ "$1" = info ] && echo 5.0.0 crun')
    program(only, "docker", "echo 28.0.1")
    assert find_engine("auto", IMAGE).name == "docker"
    with pytest.raises(SandboxError):
        find_engine("podman", IMAGE)


def test_error_of_an_engine_is_quoted(only: Path) -> None:
    program(only, "docker", '[ "$1" = run ] && { echo "no space left" >&2; exit 125; }; echo 28')
    assert refusal() == "--sandbox container: docker: no space left"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ('exec: "python3": executable file not found in $PATH', "has no python3"),
        ("unable to setup user: invalid argument", "add-subuids"),
        ("potentially insufficient UIDs or GIDs available in user namespace", "add-subuids"),
        ("its Python is 3.9.1; 3.10 or newer is needed", "its Python is 3.9.1"),
    ],
)
def test_known_errors_have_a_remedy(error: str, words: str) -> None:
    assert words in suggest_remedy(PODMAN, f"podman: {error}")


def list_start_arguments(packages: InstalledPackages) -> list[str]:
    return build_start_command(
        PODMAN, "greenloop-1-abc", ContainerConfig.from_limits(ResourceLimits(), packages)
    )


def test_old_python_reports_its_version() -> None:
    code = f"import sys; sys.version_info = (3, 9); exec({list_start_arguments(InstalledPackages())[-1]!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("3.10 or newer is needed")


def test_python_of_another_version_than_the_packages_reports_it() -> None:
    packages = InstalledPackages(("six",), "/somewhere/site-packages")
    code = (
        f"import sys; sys.version_info = (3, 99, 1); exec({list_start_arguments(packages)[-1]!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    own_version = f"{sys.version_info[0]}.{sys.version_info[1]} on {sys.platform}"
    error = f"its Python is 3.99 on {sys.platform}; the packages are for {own_version}"
    assert (done.returncode, done.stderr.strip()) == (1, error)
    assert (
        suggest_remedy(PODMAN, f"podman: {error}") == f"podman: the image {PODMAN.image}: {error}"
    )


def test_environment_of_the_host_is_not_passed_on() -> None:
    words = list_start_arguments(InstalledPackages())
    assert {"--network=none", "--read-only", "--cap-drop=ALL", "--pull=never"} <= set(words)
    assert "--security-opt=no-new-privileges" in words
    assert not [word for word in words if word.startswith(("--env", "-e", "--volume", "--priv"))]
    mounts = [word.partition("=")[2] for word in words if word.startswith("--mount=")]
    for (fields,) in (list(csv.reader([mount])) for mount in mounts):
        values = dict(field.split("=") for field in fields if "=" in field)
        assert "readonly" in fields
        assert values["target"].startswith("/opt/greenloop/") or values["target"] == "/etc/hosts"
        assert not os.path.expanduser("~").startswith(values["source"])


def test_image_without_python_is_reported() -> None:
    if reason := skip_reason("container"):
        pytest.skip(f"no container here: {reason}")
    engine = container_engine()
    image = "localhost/greenloop-tests:empty"
    archive = bytes(10240)  # an empty one, as tar writes it
    command = [engine.program, "import", "-", image]
    subprocess.run(command, input=archive, capture_output=True, check=True)
    try:
        error = refusal(container_image=image, container_engine=engine.name)
    finally:
        subprocess.run([engine.program, "rmi", image], capture_output=True, check=True)
    assert error == f"--sandbox container: {engine.name}: the image {image} has no python3"
