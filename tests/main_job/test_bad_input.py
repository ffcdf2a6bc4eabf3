"""Bad input: one line with cause and remedy, and the exit status."""

from pathlib import Path

import pytest

from tests.support.command_line import Run

CASES: dict[str, tuple[int, str]] = {
    "chekc m.py test_m.py": (2, "'chekc' is not a command; did you mean 'check'?"),
    "spec.md": (2, "spec.md does not exist; check the path, or give the text in quotes"),
    "empty.md": (2, "is empty"),
    "check mm.py test_m.py": (2, "mm.py does not exist; did you mean m.py?"),
    "check test_m.py m.py": (2, "test_m.py is the test file: name the code first"),
    "check broken.py test_m.py": (2, "broken.py is not Python: line 1"),
    "check m.py test_m.py --mutant 3": (*(2, "no such option: --mutant; did you mean --mutants?"),),
    "check m.py test_m.py --require perfect": (2, "must be 'verified' or 'passed'"),
    "check m.py test_m.py --sandbox fortress": (4, "no such sandbox: 'fortress'"),
    "heal m.py --tests no.py": (2, "--tests no.py does not exist; check the path"),
    "resume runs/1": (2, "runs/1 does not exist; check the path"),
    "verify": (2, "*.greenloop.json"),
    "batch nowhere.md": (2, "nowhere.md does not exist; check the path"),
    "report": (2, "no runs"),
}


@pytest.mark.parametrize("command", CASES)
def test_bad_input_is_one_line_with_its_remedy(run: Run, command: str) -> None:
    Path("m.py").write_text("def double(x):\n    return 2 * x\n")
    test = "from m import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
    Path("test_m.py").write_text(test)
    Path("broken.py").write_text("def f(:\n")
    Path("empty.md").write_text("\n")
    status, out, err = run(*command.split())
    wanted, line = CASES[command]
    assert (status, out, err.count("\n")) == (wanted, "", 1), err
    assert err.startswith("greenloop: ")
    assert line in err
    if status == 2:
        assert not Path(".greenloop").exists(), "a usage error leaves no run directory"
