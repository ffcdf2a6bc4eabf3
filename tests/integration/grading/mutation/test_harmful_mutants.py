"""Harmful mutants: each is contained and classified, and does not affect the others.

Mutants that attack other processes are tried only in an isolating sandbox.
"""

import sys

import pytest

from greenloop.sandbox import Sandbox
from greenloop.sandbox.warm.backend import WarmSandbox
from greenloop.sandbox.work.trials.runs import ModuleEdit, MutantRuns
from greenloop.testsuite import TestFile

pytestmark = pytest.mark.slow

CODE = "import os\n\n\ndef f(a):\n    return a + 1\n"
TESTS = (
    "import os\nfrom solution import f\n\n"
    "def test_first():\n    assert f(1) == 2\n\n"
    "def test_clean():\n    assert os.listdir('.') == os.listdir('.') and not os.path.exists('left')\n"
)
START, END = CODE.index("a + 1"), CODE.index("a + 1") + 5
UNIT = (CODE.index("def"), len(CODE) - 1, 4, "")
LOOP = "any(iter(int, 1))"
HARM = {
    "an endless loop": (LOOP, "timeout"),
    "a loop that catches all": (
        f"exec('while 1:\\n try:\\n  {LOOP}\\n except BaseException: pass')",
        "timeout",
    ),
    "a long sleep": ("__import__('time').sleep(600)", "timeout"),
    "a deadlock": ("[l := __import__('threading').Lock(), l.acquire(), l.acquire()]", "timeout"),
    "all the memory": ("[b'x' * (1 << 24) for _ in iter(int, 1)]", "killed"),
    "one large block": ("len(b'x' * (1 << 40))", "killed"),
    "an early exit": ("os._exit(0)", "crashed"),
    "a signal to itself": ("os.kill(os.getpid(), 9)", "crashed"),
    "sys.exit": ("__import__('sys').exit(0)", "killed"),
    "Ctrl-C": ("exec('raise KeyboardInterrupt')", "killed"),
    "endless recursion": ("f(a)", "killed"),
    "a flood of output": ("os.write(1, b'x' * (8 << 20)) and a", "killed"),
    "writing to every descriptor": (
        "[exec('try: os.write(%d, b\"v survived\\\\n\")\\nexcept OSError: pass' % n) for n in range(3, 99)]",
        "killed",
    ),
    "a file left lying there": ("open('left', 'w').close()", "killed"),
    "folders a thousand deep": (
        "[(os.mkdir('d'), os.chdir('d')) for _ in range(1100)] and a + 2",
        "killed",
    ),
    "a fork that comes back": ("os.fork() and a", "killed"),
    "a child that stays": ("(os.fork() or __import__('time').sleep(600)) and a", "killed"),
    "a child that leaves its group": (
        "(os.fork() or (os.setsid(), __import__('time').sleep(600))) and a",
        "killed",
    ),
}
ISOLATED_HARM = {
    "kill(-1)": ("os.kill(-1, 9)", "crashed"),
    "its parent killed": ("os.kill(os.getppid(), 9) or a", "crashed"),
    "all processes killed": (
        "[os.kill(int(n), 9) for n in os.listdir('/proc') if n.isdigit() and n != '1']",
        "crashed",
    ),
    "a fork bomb": (
        "exec('while 1:\\n try: os.fork()\\n except OSError: pass')",
        "timeout",
    ),
}


def build_edit(text: str) -> ModuleEdit:
    return ModuleEdit(START, END, text, UNIT, (5, 5))


def try_mutants(box: Sandbox, *texts: str, budget_s: float = 120) -> MutantRuns:
    files = [TestFile("test_solution.py", TESTS)]
    return box.run_mutants(
        CODE, files, [build_edit(text) for text in texts], module="solution", budget_s=budget_s
    )


def check(box: Sandbox, harm: dict[str, tuple[str, str]]) -> None:
    """Try all of them in one run, each between two ordinary mutants."""
    texts = [text for harmful, _ in harm.values() for text in ("a + 2", harmful, "1 + a")]
    runs = try_mutants(box, *texts).runs
    outcomes = [run.outcome for run in runs]
    assert dict(zip(harm, outcomes[1::3], strict=True)) == {
        name: outcome for name, (_, outcome) in harm.items()
    }
    assert set(outcomes[0::3]) == {"killed"}
    assert set(outcomes[2::3]) == {"survived"}


def test_harmful_mutant_is_contained(box: Sandbox) -> None:
    check(box, HARM)


@pytest.mark.parametrize("name", ISOLATED_HARM)
def test_mutant_cannot_end_other_processes(box: Sandbox, name: str) -> None:
    if not isinstance(box, WarmSandbox):
        pytest.skip("needs an isolating sandbox: it would end processes of this machine")
    check(box, {name: ISOLATED_HARM[name]})


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc to find remaining processes")
def test_harm_at_import_is_contained(box: Sandbox) -> None:
    changes = ("os._exit(0)", LOOP, "1 / 0", "2")
    code = "import os\nVALUE = 1\n\ndef f():\n    return 1\n"
    place = code.index("= 1") + 2
    unit = (code.index("VALUE"), place + 1, 2, "")
    edits = [ModuleEdit(place, place + 1, text, unit, (2, 2)) for text in changes]
    files = [
        TestFile("test_solution.py", "import solution\ndef test(): assert solution.f() == 1\n")
    ]
    runs = box.run_mutants(code, files, edits, module="solution", budget_s=120).runs
    assert [run.outcome for run in runs] == ["crashed", "timeout", "killed", "survived"]
    assert [run.test for run in runs[:3]] == ["collection"] * 3
