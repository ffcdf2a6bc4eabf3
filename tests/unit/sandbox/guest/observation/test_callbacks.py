"""Failures of functions that an input passes in."""

import sys
import types
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from greenloop.sandbox.guest.observation.inputs.callbacks import excuse_callback
from greenloop.sandbox.guest.observation.program_module import create_module
from tests.support.programs import read_table

MODULE = """
def call(clock):
    return clock()

def fail(clock):
    return [][0]
"""


def name_shown(scenario: str) -> str:
    """Return the name of the exception that is shown for a scenario, in a module as the runner's."""
    module: Any = types.ModuleType("m")
    exec(compile(MODULE, "m.py", "exec"), vars(module))
    with patch.dict(sys.modules):
        names = vars(create_module(scenario, {}))
    names |= {"call": module.call, "fail": module.fail}
    exec(compile(scenario, "<string>", "exec"), names)
    run: Callable[[], Any] = names["run"]
    try:
        run()
    except Exception as error:
        return type(excuse_callback(error, "m")).__name__
    return ""


@pytest.mark.parametrize(("body", "expected"), read_table(__file__, "EXCUSED"))
def test_only_what_a_function_of_the_input_fails_at_is_excused(body: str, expected: str) -> None:
    broken = "def broken():\n    raise OSError('no clock')\n"
    assert name_shown(f"times = []\n{broken}\ndef run():\n    return {body}\n") == expected
