"""Each limit, exceeded on purpose: the run reports it by name and value."""

import pytest

from greenloop.records import Ending, LimitName
from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import PRELUDE, Attack, Limited
from tests.support.programs import read_table

_WRITE = """
def fill(path, megabytes):
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(bytes(1 << 20))
"""
_BURN = """
def burn():
    while True: pass
"""
# By limit: the action, changed limits, the ending, words of the report.
REACHED: dict[LimitName, tuple[str, dict[str, float], Ending, str]] = read_table(
    __file__, "REACHED"
)


# Endings without quotas: the run's usage is polled.
POLLED: dict[LimitName, Ending] = {"disk": "disk", "inodes": "disk"}


@pytest.mark.parametrize("name", REACHED)
def test_limit_is_reported_by_name(
    box: Sandbox, attack: Attack, limited: Limited, spaces: bool, name: LimitName
) -> None:
    if name == "shared memory" and not spaces:
        pytest.skip("without namespaces there is no shared memory at all")
    action, settings, ending, words = REACHED[name]
    if not spaces:
        ending = POLLED.get(name, ending)
        action += "; time.sleep(5)" if name in POLLED else ""
    if name == "inodes" and "podman" in box.info.isolation:
        ending = "disk"  # podman cannot limit their number: they are counted
    with limited(**settings):
        run = attack(f"{PRELUDE}{_WRITE}{_BURN}\ndef f():\n    {action}")
    if name == "processes" and run.ending == "processes":
        ending = "processes"  # without a user id of its own the run is ended
    assert run.ending == ending, run
    assert run.limits_hit == (name,)
    assert words in run.detail
    assert not run.passed


def test_ignored_cpu_signal_is_followed_by_a_kill(attack: Attack, limited: Limited) -> None:
    ignore = "signal.signal(signal.SIGXCPU, signal.SIG_IGN)"
    with limited(cpu_s=1):
        run = attack(f"{PRELUDE}{_BURN}\ndef f():\n    {ignore}\n    burn()")
    assert (run.ending, run.limits_hit) == ("cpu", ("cpu",)), run


def test_death_without_processes_is_reported(
    attack: Attack, limited: Limited, spaces: bool
) -> None:
    threads = (
        "[threading.Thread(target=time.sleep, args=(9,), daemon=True).start() for _ in 'a' * 99]"
    )
    with limited(memory_bytes=8 << 30):
        run = attack(
            f"{PRELUDE}\ndef f():\n"
            f"    try: {threads}\n"
            "    except RuntimeError: time.sleep(0.3)\n"
            "    os.abort()"
        )
    if not spaces and run.ending == "crashed":
        return  # threads are polled, and may end before they are counted
    assert (run.ending, run.limits_hit) == ("processes", ("processes",)), run
    assert run.detail.startswith("more than 24 processes and threads during test_solution.py")


def test_no_limit_is_reported_if_none_was_reached(attack: Attack) -> None:
    run = attack("def f(): raise ValueError('no')")
    assert (run.limits_hit, run.detail) == ((), "")
