"""Repair by search in code that hangs: each useless edit costs a timeout."""

from greenloop.repair import search_patches
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from tests.support.programs import read_program

CODE = """\
def total(xs):
    n = 0
    i = 0
    while i < len(xs):
        n += xs[i]
    return n
"""
TESTS = read_program(__file__, "TESTS")


def test_an_endless_loop_is_repaired() -> None:
    files = [TestFile("test_m.py", TESTS)]
    with open_sandbox(Settings.model_construct(timeout_s=4, memory_mb=512)) as box:
        run = box.run_tests(CODE, files, module="m")
        assert run.ending == "timeout"
        found = search_patches(box, CODE, files, "m", run=run, seconds=60, max_patches=1)
    assert "i += 1" in found.patches[0].code
