"""Remedies for the reasons why code is not `verified`."""

# By a part of the reason: why something was not measured says more than what it was.
_CAUSES = {
    "no test is new": "add a test of the change",
    "no test imports": "import them in a test",
    "no mutants were requested": "leave out --mutants 0",
    "out of time": "raise grading-seconds, or name quicker tests",
    "nothing that a mutant could change": "",
    "no function is changed": "",
    "no statement": "",
    "not measured": "",
}
# By the beginning of the reason; reasons that name their remedy themselves are not listed.
_REMEDIES = {
    "mutants": "add the tests that are missing: one for each fault that no test notices",
    "lines": "add tests that run the remaining lines",
    "branches": "add tests that take the remaining branches",
    "empty bodies": "assert on what the functions return",
    "assertion mutation": "compare with expected values: assert f(x) == value",
    "isolation": "give the tests plain calls with expected values",
    "memorization": "test with more inputs, or say in the text which inputs matter",
    "held-out examples: none": "add calls with their results to the text, as f(1) -> 2",
    "held-out examples": "compare the examples with the text, and make it plainer",
    "second reading: no second": "give the text (check --spec) and leave out --no-peer",
    "second reading: only": "say in the text more of what its functions are called with, or run again",
    "second reading: the code is far slower": "make it faster on this input",
    "second reading": "settle the differences in the text",
    "red phase": "let greenloop write the tests, which are first run without the code",
    "flakiness": "remove time, randomness and order from the tests",
    "integrity": "take this construct out of the code",
    "requirements without": "say in the text how the requirement shows, or give a test with --tests",
    "tests that return": "assert the value instead of returning it",
    "the text asks for more": "take it out of the text, or give it a run of its own",
    "no baseline": "run the project's tests with pytest, and fix what fails",
    "forged": "read the code: it does not earn its green",
    "stuck": "make the text plainer, or name another model with --fallback-model",
    "patches": "add the test that is missing, and heal again",
    "not repaired": "allow more with --max-repairs, or continue with `greenloop resume`",
    "grading ended early": "run again",
}


def find_remedy(reason: str) -> str:
    """Return what to do about a reason; '' where it says so itself."""
    found = [text for cause, text in _CAUSES.items() if cause in reason]
    found += [text for start, text in _REMEDIES.items() if reason.startswith(start)]
    return next(iter(found), "")
