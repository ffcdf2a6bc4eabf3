"""Snapshots of a folder: included and excluded files, limits."""

import os
from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.project.snapshot import take_snapshot

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq4yR5wq\n"
IN = (
    "a.py credentials.py src/build/mod.py build/__init__.py src/venv/a.py data/in.csv .coveragerc tests/conftest.py "
    "environment.yml keys/readme.md .github/workflows/ci.yml"
).split()
SECRET = (
    ".env .env.local config/prod.env .netrc .pypirc .npmrc id_rsa keys/id_ed25519.pub server.key "
    "cert.pem credentials.json secrets.yaml terraform.tfstate .ssh/config .aws/credentials "
    "renamed.txt client_secret_1.json latest.py"
).split()
OTHER = (
    ".git/config __pycache__/a.cpython-311.pyc a.pyc .venv/lib/x.py env/pyvenv.cfg env/lib/y.py "
    "node_modules/x/index.js .tox/x .mypy_cache/y build2/__pycache__/z dist/x.whl .coverage"
).split()


def test_secrets_and_generated_files_are_excluded(tmp_path: Path) -> None:
    for path in (*IN, *SECRET, *OTHER):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        has_key = path in ("renamed.txt", "latest.py", "tests/conftest.py")
        text = KEY if has_key else f"of {path}\r\n"
        (tmp_path / path).write_bytes(text.encode())
    project = take_snapshot(tmp_path)
    assert sorted(item.path for item in project.files) == sorted(IN)
    assert project.all_files["a.py"] == b"of a.py\r\n"


def test_links_are_followed_only_within_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (root / "inner/a.txt").write_text("a")
    (root / ".env").write_text("KEY=1")
    (tmp_path / "outside.txt").write_text("out")
    for name, target in {
        "in": "inner/a.txt",
        "folder": "inner",
        "out": "../outside.txt",
        "absolute": str(tmp_path / "outside.txt"),
        "secret": ".env",
        "nowhere": "no-such",
        "itself": "itself",
    }.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    project = take_snapshot(root)
    assert project.all_files == {"in": b"a", "inner/a.txt": b"a"}


def test_too_large_folder_is_refused_with_its_largest_entries(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/big.bin").touch()
    os.truncate(tmp_path / "data/big.bin", 33 << 20)
    (tmp_path / "small.py").write_text("x")
    with pytest.raises(
        InputError, match=r"2 files, 33\.0 MB; the limit is .* 32\.0 MB\. Largest: data/ \(33\.0 MB"
    ):
        take_snapshot(tmp_path)
    os.truncate(tmp_path / "data/big.bin", 3 << 20)
    with pytest.raises(InputError, match=r"Largest: data/ \(1 files\), small.py"):
        take_snapshot(tmp_path, max_files=1)
    assert len(take_snapshot(tmp_path).files) == 2


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name a folder"):
        take_snapshot(tmp_path / "no-such")
