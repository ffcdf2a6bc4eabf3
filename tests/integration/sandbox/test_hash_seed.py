"""Results that depend on the hashes of strings are reproducible."""

from greenloop.sandbox import Sandbox
from greenloop.sandbox.job import HASH_SEED
from tests.integration.sandbox.conftest import make_sandbox

CODE = "def f():\n    return hash('greenloop')\n"


def test_hash_seed_is_the_same_in_every_process(box: Sandbox) -> None:
    with make_sandbox(box.info.backend) as another:
        answers = [item.evaluate_calls(CODE, "solution", ["f()"]).events for item in (box, another)]
    assert answers[0] == answers[1]
    (first,) = answers[0]
    assert first is not None
    assert "value" in first


def test_observed_code_has_another_seed_than_tests(box: Sandbox) -> None:
    tests = "from solution import f\n\n\ndef test_f():\n    assert f() == {}\n"
    for seed in (0, HASH_SEED):
        (event,) = box.evaluate_calls(CODE, "solution", ["f()"], hash_seed=seed).events
        assert event is not None
        value = int(event["value"][1], 16)
        assert box.run_tests(CODE, tests.format(value), hash_seed=seed).passed
        assert not box.run_tests(CODE, tests.format(value), hash_seed=HASH_SEED - seed).passed
