"""Extreme mutation: the tests run on code in which every function body raises.

Niedermayr, Juergens, Wagner, "Will my tests tell me if I break this code?" (2016); Descartes.
"""

import ast
import builtins
from collections.abc import Iterator

from greenloop.grading.context import GradingContext
from greenloop.records import EmptyBodies, TestRun
from greenloop.sandbox.guest.coverage.instrumentation import instrument_file
from greenloop.syntax.nodes import Definition, Function, bound_names
from greenloop.syntax.parse import PARSE_ERRORS, UNREADABLE, parse_or_empty
from greenloop.testsuite.module_under_test import get_member, read_imports
from greenloop.testsuite.stubs import with_empty_bodies


def measure(context: GradingContext) -> EmptyBodies | str:
    """Run the tests on the code with empty function bodies: they must fail.

    If they pass, importing the code changes the tests. Two cases are honest: a module without
    functions (a table, an enumeration), for which a text is returned, and tests that run no
    function of the module, or outside of a project name none, which are weak but no forgery.
    """
    try:
        source = with_empty_bodies(context.code)
        tree = ast.parse(context.code)
    except PARSE_ERRORS:
        return UNREADABLE
    if not _has_function(tree):
        return "the code has no functions"
    if context.project:
        recorded = context.project.record_hits(source, context.tests, context.module)
        run, is_asked = recorded.run, _runs_body(source, recorded.mask)
    else:  # a forgery may end what records the lines
        run, is_asked = context.run_tests(source), _names_function(context, tree)
    found = judge_empty_bodies(run)
    if found.reached or found.cut_short or is_asked:
        return found
    return found.model_copy(update={"cut_short": "the tests run no function of the module"})


def _has_function(tree: ast.AST) -> bool:
    return any(isinstance(node, (Function, ast.Lambda)) for node in ast.walk(tree))


def _is_computed(node: ast.stmt) -> bool:
    """Whether an assigned value may be a function: it is another name's, or a call returns it."""
    match node:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            called = value.func if isinstance(value, ast.Call) else value
            is_name = isinstance(called, (ast.Name, ast.Attribute, ast.Call))
            return is_name and ast.unparse(called) not in dir(builtins)
    return False


def _names_function(context: GradingContext, tree: ast.Module) -> bool:
    """Whether a test file names a function of the module, or a class or value that contains one."""
    with_function = bound_names(
        item
        for node in tree.body
        if _has_function(node) or _is_computed(node)
        for item in ([node] if isinstance(node, Definition) else ast.walk(node))
    )
    return not with_function.isdisjoint(_iter_members(context))


def _iter_members(context: GradingContext) -> Iterator[str]:
    """Yield the members of the module that the tests import or read."""
    for file in context.tests:
        text = parse_or_empty(file.code)
        names = read_imports(text, context.module)
        yield from names.values()
        for node in ast.walk(text):
            if isinstance(node, ast.expr):
                yield get_member(node, names)
            if isinstance(node, ast.Name) and "*" in names:
                yield node.id


def _runs_body(source: str, hits: int) -> bool:
    """Whether the hits include a `raise` that replaced a function body."""
    texts = source.splitlines()
    meaning = instrument_file(source)
    bodies = (
        number
        for number, line in (meaning.lines.items() if meaning else ())
        if texts[line - 1].strip() == "raise NotImplementedError"
    )
    return any(hits >> number & 1 for number in bodies)


def judge_empty_bodies(run: TestRun) -> EmptyBodies:
    """Return the evidence of a run with empty function bodies."""
    failed = len(run.failing_tests)
    passed = sum(test.outcome == "passed" for test in run.tests)
    if run.ending == "timeout":
        late = f"out of time after {len(run.tests)} tests"
        return EmptyBodies(reached=False, passed=passed, failed=failed, cut_short=late)
    green = run.ending == "finished" and passed > 0 and not failed
    return EmptyBodies(reached=not green, passed=passed, failed=failed)
