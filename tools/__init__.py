"""For those who work from a checkout: `from tools import generate_code`."""

from greenloop.tools import (
    Toolkit,
    coding_tools,
    generate_code,
    generate_tests,
    judge_difference,
    judge_test,
    parse_specification,
    repair_code,
    review_code,
    run_tests,
    write_peer,
)

__all__ = [
    "Toolkit",
    "coding_tools",
    "generate_code",
    "generate_tests",
    "judge_difference",
    "judge_test",
    "parse_specification",
    "repair_code",
    "review_code",
    "run_tests",
    "write_peer",
]
