"""Spectrum-based fault localization: the suspicion of each line, by Ochiai's coefficient.

R. Abreu, P. Zoeteweij and A. J. C. van Gemund: "An Evaluation of Similarity Coefficients for
Software Fault Localization" (PRDC 2006) and "On the Accuracy of Spectrum-based Fault Localization"
(TAICPART-MUTATION 2007). For a line that is executed by `ef` of the `f` failing tests and by `ep`
passing ones, the coefficient is ef / sqrt(f * (ef + ep)).
"""

import ast
import math
from collections import Counter
from collections.abc import Sequence

from greenloop.repair.hints import Hints
from greenloop.sandbox.work.trials.runs import BaselineResult
from greenloop.syntax.nodes import Function, get_assigned_targets, list_header_lines, list_lines

_CRASH_BONUS, _UNKNOWN_SCORE, _IMPORT_TIME_FACTOR = 0.15, 0.5, 0.9
_OUTSIDE_LOOP_FACTOR, _BESIDE_CRASH_SCORE = 0.75, 0.75
_MAX_LINES_BACK = 6


class FaultLocalization:
    """The suspicion of each line, between 0 and 1: 1 for the most suspicious ones."""

    def __init__(self, tree: ast.Module, reached: Sequence[BaselineResult], hints: Hints) -> None:
        scores = compute_ochiai_scores(reached)
        for line in {line for line, _ in hints.crashes}:
            scores[line] = scores.get(line, 0.0) + _CRASH_BONUS
        if hints.has_timeout:
            _favour_loops(tree, scores)
        self._has_no_scores = not reached or not any(scores.values())
        highest = max(scores.values(), default=0.0) or 1.0
        self._scores = {line: score / highest for line, score in scores.items()}
        if not reached:  # the import of the module fails
            self._score_functions_of_crashes(tree)
        elif not self._has_no_scores:
            self._score_import_time_lines(tree)
            self._clear_unexecuted_lines(tree)

    def score_line(self, line: int) -> float:
        """Return the suspicion of a line, or of the line on which its statement starts."""
        if self._has_no_scores:
            return self._scores.get(line, _UNKNOWN_SCORE)
        lines = range(line, max(0, line - _MAX_LINES_BACK), -1)
        return next((self._scores[item] for item in lines if item in self._scores), 0.0)

    def _score_functions_of_crashes(self, tree: ast.Module) -> None:
        """Score the lines of the functions in which exceptions were raised."""
        crashes = set(self._scores)
        for node in ast.walk(tree):
            if isinstance(node, Function):
                lines = list_lines(node)
                for line in lines if crashes.intersection(lines) else ():
                    self._scores.setdefault(line, _BESIDE_CRASH_SCORE)

    def _score_import_time_lines(self, tree: ast.Module) -> None:
        """Score definitions like the code that uses them: they run at import, before any test."""
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, Function):
                first = node.body[0].lineno
                head, body = range(node.lineno, first), range(first, list_lines(node).stop)
                self._raise_scores(head, max((self._scores.get(n, 0.0) for n in body), default=0.0))
        for node in nodes:
            if isinstance(node, (ast.Module, ast.ClassDef)):
                for item in node.body:
                    if isinstance(item, (ast.Assign, ast.AnnAssign)):
                        self._score_constant(tree, item)

    def _clear_unexecuted_lines(self, tree: ast.Module) -> None:
        statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
        for node in statements:
            if not any(line in self._scores for line in list_header_lines(node)):
                self._scores[node.lineno] = 0.0

    def _score_constant(self, tree: ast.Module, node: ast.Assign | ast.AnnAssign) -> None:
        targets = get_assigned_targets(node)
        names = {item.id for item in targets if isinstance(item, ast.Name)}
        using = [
            item.lineno
            for item in ast.walk(tree)
            if (isinstance(item, ast.Name) and item.id in names and item not in targets)
            or (isinstance(item, ast.Attribute) and item.attr in names)
        ]
        self._raise_scores(
            list_lines(node), max((self._scores.get(line, 0.0) for line in using), default=0.0)
        )

    def _raise_scores(self, lines: range, score: float) -> None:
        for line in lines:
            self._scores[line] = max(self._scores.get(line, 0.0), _IMPORT_TIME_FACTOR * score)


def _favour_loops(tree: ast.Module, scores: dict[int, float]) -> None:
    """Lower the scores of lines outside of `while` loops, in a module whose tests do not end."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
    inside = {n for node in loops for n in list_lines(node)}
    for line in scores if inside & {line for line, score in scores.items() if score} else ():
        scores[line] *= 1 if line in inside else _OUTSIDE_LOOP_FACTOR


def compute_ochiai_scores(reached: Sequence[BaselineResult]) -> dict[int, float]:
    """Return the Ochiai coefficient of each line that a test reaches. A timeout is a failure."""
    failing = [item.lines for item in reached if item.outcome in ("failed", "timeout")]
    passing = [item.lines for item in reached if item.outcome == "passed"]
    counts = Counter(line for lines in failing for line in lines)
    others = Counter(line for lines in passing for line in lines)
    scores = dict.fromkeys(others, 0.0)
    for line, count in counts.items():
        scores[line] = count / math.sqrt(len(failing) * (count + others[line]))
    return scores
