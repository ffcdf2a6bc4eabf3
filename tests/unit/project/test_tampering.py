"""Files of an environment that no package brought, and a pytest that was changed, are named."""

import base64
import hashlib
from pathlib import Path

import pytest

from greenloop.project.environment.tampering import find_tampered_files


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / ".venv/lib/python3.12/site-packages"
    (folder / "pytest-8.0.dist-info").mkdir(parents=True)
    (folder / "_pytest").mkdir()
    (folder / "_pytest/runner.py").write_text("honest = True\n")
    (folder / "shop.pth").write_text("import shop_hook\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"honest = True\n").digest()).decode()
    record = f"_pytest/runner.py,sha256={digest.rstrip('=')},14\nshop.pth,,\n"
    (folder / "pytest-8.0.dist-info/RECORD").write_text(record)
    return folder


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("green.pth", "import os; os.environ['X'] = '1'\n", "runs it before every test"),
        ("sitecustomize.py", "", "runs it before every test"),
        ("_pytest/runner.py", "honest = False\n", "differs from what was installed"),
    ],
)
def test_a_file_that_no_package_brought_is_named(
    tmp_path: Path, packages: Path, name: str, text: str, said: str
) -> None:
    assert not list(find_tampered_files(tmp_path, 0.0))
    (packages / name).write_text(text)
    (found,) = find_tampered_files(tmp_path, 0.0)
    assert found.startswith(f".venv/lib/python3.12/site-packages/{name}: ")
    assert said in found
    assert not list(find_tampered_files(tmp_path, (packages / name).stat().st_mtime))


def test_a_script_that_was_edited_is_not_named(tmp_path: Path, packages: Path) -> None:
    record = packages / "pytest-8.0.dist-info/RECORD"
    record.write_text(record.read_text() + "../../../bin/pytest,sha256=abc,20\n")
    script = tmp_path / ".venv/bin/pytest"
    script.parent.mkdir()
    script.write_text("#!/elsewhere/python\n")
    assert not list(find_tampered_files(tmp_path, 0.0))
