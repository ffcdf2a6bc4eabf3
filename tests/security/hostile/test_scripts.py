"""Hostile scripts: what they print, create and report is bounded and not trusted."""

import pytest

from greenloop.records import InputFile, ScriptJob, ScriptRun
from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import Limited
from tests.security.hostile.host_monitor import Witness
from tests.support.programs import read_program, read_programs

INPUTS = (InputFile(path="in/a.txt", content=b"input"),)


def run_in(box: Sandbox, script: str, **more: object) -> ScriptRun:
    return box.run_script(ScriptJob(script=script, inputs=INPUTS, **more))  # type: ignore[arg-type]


FLOODS = {
    "output": "import os\nwhile True: os.write(1, b'x' * 65536)",
    "errors": "import os\nwhile True: os.write(2, b'x' * 65536)",
    "both": "import os\nwhile True:\n    os.write(1, b'x' * 4096)\n    os.write(2, b'x' * 4096)",
    "result channel": "import os\nwhile True: os.write(3, b'x' * 65536)",
}


@pytest.mark.parametrize("name", FLOODS)
def test_flood_ends_the_run(box: Sandbox, name: str) -> None:
    run = run_in(box, FLOODS[name])
    assert (run.ending, run.limits_hit) == ("output", ("output",)), run
    assert len(run.stdout) + len(run.stderr) < 3 << 20


SURVIVORS = read_programs(__file__, "SURVIVORS")


@pytest.mark.parametrize("name", SURVIVORS)
def test_no_process_survives_the_run(
    box: Sandbox, spaces: bool, witness: Witness, name: str
) -> None:
    run = run_in(box, SURVIVORS[name], timeout_s=2.0)
    assert run.duration_s < 30
    if name in ("ignores signals", "threads", "at exit"):
        assert run.ending == "timeout"
    if name == "orphans" and spaces:
        assert (run.ending, run.stdout) == ("finished", "left\n"), run


CREATORS = {
    "many": "for n in range(100_000):\n    open(f'f{n}', 'w').close()",
    "deep": "import os\nfor n in range(200):\n    os.mkdir('d'); os.chdir('d')\n"
    "open('bottom', 'w').write('x')",
    "large": "with open('large', 'wb') as file:\n    for n in range(100): file.write(bytes(1 << 20))",
    "sparse": "import os\nos.truncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 1 << 40)",
}


@pytest.mark.parametrize("name", CREATORS)
def test_created_files_are_bounded(box: Sandbox, name: str) -> None:
    run = run_in(box, CREATORS[name])
    assert len(run.made) <= 200
    assert sum(len(item.content or b"") for item in run.made) <= 16 << 20
    assert len(run.left_out) <= 50
    if name == "deep":
        assert ["folders deep" in line for line in run.left_out] == [True]
    else:
        assert not run.succeeded
        assert run.limits_hit, run


STRANGE = read_program(__file__, "STRANGE")


def test_links_pipes_and_invalid_names_are_omitted(box: Sandbox) -> None:
    run = run_in(box, STRANGE)
    assert run.exit_status == 0, run
    made = {item.path: item.content for item in run.made}
    assert made["new_line"] == b"n"
    assert made["hard"] == made["in/b.txt"] == b"input"
    assert {"link_etc_passwd", "pipe", "socket"}.isdisjoint(made)
    assert not any(b"root:" in (content or b"") for content in made.values())
    assert run.changed_inputs == ("in/a.txt",)
    assert {line.partition(":")[0] for line in run.left_out} >= {
        "link_etc_passwd",
        "pipe",
        "in/a.txt",
    }


HOSTILE_VALUES = read_program(__file__, "HOSTILE_VALUES")


def test_local_values_are_formatted_without_their_own_code(box: Sandbox) -> None:
    run = run_in(box, HOSTILE_VALUES)
    assert (run.exit_status, run.stdout) == (1, ""), run
    assert "loud" not in run.stderr
    assert run.error is not None
    values = dict(run.error.frames[-1].local_values)
    assert values["loud"] == "<Loud>"
    assert values["endless"] == "<Endless>"
    assert values["deadly"] == "<Deadly>"
    assert values["text"] == "<Text>"
    assert values["itself"] == "{'self': [{'self': [...]}, {<Loud>}]}"
    assert set(values) >= {"odd", "queue"}


ENDLESS_WITHIN = read_program(__file__, "ENDLESS_WITHIN")


def test_endless_repr_ends_with_the_error(box: Sandbox) -> None:
    run = run_in(box, ENDLESS_WITHIN)
    assert (run.ending, run.exit_status) == ("finished", 1), run
    assert run.error is not None
    assert (run.error.exception, run.error.message) == ("ValueError", "failed")
    assert run.error.frames[-1].function == "fail"


FORGED = read_program(__file__, "FORGED")


def test_forged_events_do_not_make_a_script_succeed(box: Sandbox) -> None:
    run = run_in(box, FORGED)
    assert (run.exit_status, run.succeeded) == (3, False)
    assert run.error is None or run.error.exception in ("Forged", "Bare")


def test_replaced_inputs_are_reported(box: Sandbox, limited: Limited) -> None:
    run = run_in(box, "import os\nos.rename('in', 'out'); os.mkdir('in'); os.mkfifo('in/a.txt')")
    assert run.changed_inputs == ("in/a.txt",)
    with limited(inodes=400):
        run = run_in(box, "import shutil\nshutil.rmtree('in')")
    assert run.changed_inputs == ("in/a.txt",)


def test_names_of_created_files_are_safe_on_the_host(box: Sandbox) -> None:
    names = ["-rf", "a\nb", "\x1b[2J", "\u202egnp.exe", "d-1/-x", "_rf", "plain-1.txt", "ä b"]
    script = (
        "import os, sys\nos.mkdir('d-1')\n"
        f"for name in {names!r}:\n    open(name, 'w').write(name)\n"
        "os.symlink('x', 'li\\nnk')\n"
    )
    run = run_in(box, script)
    made = {item.path: item.content for item in run.made}
    assert made["plain-1.txt"] == b"plain-1.txt"
    assert made["ä b"] == "ä b".encode()
    assert made["_rf"] == b"_rf"
    assert made["_rf~2"] == b"-rf"
    assert made["d-1__x"] == b"d-1/-x"
    assert len(made) == len(names)
    assert all(path.isprintable() for path in (*made, *run.left_out))
    assert run.left_out
