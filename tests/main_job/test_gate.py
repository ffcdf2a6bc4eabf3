"""`greenloop gate` and `check --all`: what stands behind an agent, and a whole project."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.support.command_line import Run
from tests.support.git import commit_all

CODE = "def total(prices):\n    return sum(prices)\n"
TESTS = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
NEW_CODE = "\n\ndef discount(price, percent):\n    return price - price * percent / 100\n"
NEW_TESTS = "\n\ndef test_discount():\n    assert discount(200, 10) == 180\n    assert discount(50, 100) == 0\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shop = tmp_path / "shop"
    shop.mkdir()
    monkeypatch.chdir(shop)
    Path("cart.py").write_text(CODE)
    Path("test_cart.py").write_text(TESTS)
    commit_all(shop)
    return shop


def test_an_agent_is_blocked_until_its_change_is_mended(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> tuple[int, str, str]:
        event = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(project)}
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(event)))
        return run("gate", "--time", "200", "--agent", "claude")

    assert stop() == (0, "", "")
    Path("cart.py").write_text(CODE + NEW_CODE)
    Path("test_cart.py").write_text(TESTS.replace("== 3", "> 0"))
    status, out, _ = stop()
    answer = json.loads(out)
    assert (status, answer["decision"]) == (0, "block")
    lines = answer["reason"].splitlines()
    assert "test_total asserts less than before: `total([1, 2]) == 3` is now" in lines[0]
    assert "no test runs cart.py:6: add tests" in lines[1]
    assert len(lines) <= 40

    Path("test_cart.py").write_text(
        TESTS.replace("import total", "import discount, total") + NEW_TESTS
    )
    assert stop() == (0, "", "")


@pytest.mark.usefixtures("project")
def test_all_modules_are_graded_weakest_first_and_once(run: Run) -> None:
    words = ("check", "--all", "--mutants", "0", "--quiet")
    Path("names.py").write_text("def name(text):\n    return text.strip()\n")
    status, out, _ = run(*words)
    assert (status, [line.split()[0] for line in out.splitlines()]) == (1, ["no", "passed"])
    (first,) = Path(".greenloop/runs").iterdir()
    _, again, _ = run(*words, "--json")
    assert [item["path"] for item in json.loads(again)] == ["names.py", "cart.py"]
    assert list(Path(".greenloop/runs").iterdir()) == [first]
    Path("test_cart.py").write_text(f"{TESTS}    assert total([]) == 0\n")
    run(*words)
    assert len(list(Path(".greenloop/runs").iterdir())) == 2
