"""Regressions of a repair: what the first version of a script had and the repaired one lost."""

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterator

from greenloop.records.script_result import ScriptRun
from greenloop.scripts.cli_options import reads_arguments
from greenloop.scripts.inventory import Inventory, OutputCall, build_inventory, extract_words
from greenloop.syntax.parse import parse_or_empty

MAX_REGRESSIONS = 12
_MIN_REWRITE_LINES, _MIN_KEPT_SHARE = 25, 0.4
_MIN_BODY_SIMILARITY, _MIN_WORD_COVERAGE, _MIN_LINE_SIMILARITY = 0.6, 0.6, 0.8
_MAX_COMPARED, _MAX_LOST_LINES = 400, 5
_VOLATILE_PATTERNS = (
    (re.compile(r"0x[0-9a-fA-F]+"), "0"),
    (re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)\w*\b", re.IGNORECASE), "DAY"),
    (
        re.compile(r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE),
        "MONTH",
    ),
    (re.compile(r"/(?:tmp|var|home|work)/\S*"), "PATH"),
    (re.compile(r"[-+]?\d+(?:[.,:]\d+)*"), "0"),
    (re.compile(r"\s+"), " "),
)
_ERROR_LINE = re.compile(
    r"(?i)error|exception|fail|traceback|cannot|can't|could not|couldn't|unable|invalid|missing"
    r"|warning|usage:|not found|no such|unknown|abort|none\b|nan\b"
)


def find_regressions(original: str, repaired: str) -> list[str]:
    """Return one line for the model for each function, class, option or output that is missing.

    `original` is the first version after the automatic fixes; a source that does not parse is
    searched by patterns. What was renamed, partly reworded, merged or moved is not missing. At most
    `MAX_REGRESSIONS` lines are returned; the last one says how much was rewritten.
    """
    old, new = build_inventory(original), build_inventory(repaired)
    lines = list(_find_missing_definitions(old, new))
    if reads_arguments(original) and not reads_arguments(repaired):
        lines.append("the script no longer reads its command line; it has to")
    else:
        lines += _find_missing_options(old, new)
    lines += _find_missing_outputs(old, new)
    return [*lines[: MAX_REGRESSIONS - 1], *_report_rewrite(original, repaired)]


def find_suppressed_errors(original: str, repaired: str) -> Iterator[str]:
    """Yield a line for each `except` of a repair, new in it, that neither handles nor reports."""
    known = {ast.unparse(item) for item in _list_handlers(original)}
    for item in _list_handlers(repaired):
        if all(map(_does_nothing, item.body)) and ast.unparse(item) not in known:
            kind = ast.unparse(item.type) if item.type else "everything"
            yield f"line {item.lineno} catches {kind} and goes on"


def _does_nothing(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Expr, ast.Return)):
        return isinstance(node.value, (ast.Constant, type(None)))
    return isinstance(node, (ast.Pass, ast.Continue, ast.Break))


def _list_handlers(code: str) -> list[ast.ExceptHandler]:
    nodes = ast.walk(parse_or_empty(code))
    return [item for item in nodes if isinstance(item, ast.ExceptHandler)]


def find_lost_output(first: ScriptRun, current: ScriptRun) -> list[str]:
    """Return the lines that the first version printed before it failed and `current` did not print.

    Differences in numbers, dates and temporary paths do not count, nor do error messages. The
    result is [] if the first version ended with status 0, or if the output of `current` was
    truncated.
    """
    if first.exit_status == 0 or current.stdout_cut:
        return []
    printed = first.stdout.split("\n")[:-1]  # an unfinished last line does not count
    printed_now = {_mask_volatile_parts(line) for line in current.stdout.split("\n")}
    gone: dict[str, str] = {}
    compared = list(printed_now)[:_MAX_COMPARED]
    for line in printed[:_MAX_COMPARED]:
        masked = _mask_volatile_parts(line)
        if not masked or masked in printed_now or masked in gone or _ERROR_LINE.search(line):
            continue
        if not difflib.get_close_matches(masked, compared, 1, _MIN_LINE_SIMILARITY):
            gone[masked] = line.strip()[:160]
    lost = list(gone.values())[:_MAX_LOST_LINES]
    return [f"the first version printed {line!r}, this one does not" for line in lost]


def _find_missing_definitions(old: Inventory, new: Inventory) -> Iterator[str]:
    exact = old.is_exact and new.is_exact
    there = {name if exact else name.rpartition(".")[2] for name in new.definitions}
    added = {name: body for name, body in new.definitions.items() if name not in old.definitions}
    gone_classes: list[str] = []
    for name, body in old.definitions.items():
        if (name if exact else name.rpartition(".")[2]) in there:
            continue
        if name.rpartition(".")[0] in gone_classes or _is_renamed(name, body, added):
            continue
        if old.kinds[name] == "class":
            gone_classes.append(name)
        yield f"the {old.kinds[name]} `{name}` is gone; it has to stay"


def _is_renamed(name: str, body: str, added: dict[str, str]) -> bool:
    """Return whether an added definition is this one with another name or in another place."""
    bare = name.rpartition(".")[2]
    for other, other_body in added.items():
        if other.rpartition(".")[2] == bare:
            return True
        words, other_words = (text.split()[:_MAX_COMPARED] for text in (body, other_body))
        matcher = difflib.SequenceMatcher(None, words, other_words, autojunk=False)
        if body and matcher.ratio() >= _MIN_BODY_SIMILARITY:
            return True
    return False


def _find_missing_options(old: Inventory, new: Inventory) -> Iterator[str]:
    """Yield options whose names are all missing; without a syntax tree the source is searched."""
    there = frozenset(name for item in new.options for name in item.normalized_names)
    source = "" if new.is_exact else "\n".join(new.texts)
    for item in dict.fromkeys(old.options):
        if item.normalized_names & there or any(name in source for name in item.names if source):
            continue
        noun = "option" if item.names[0].startswith("-") else "argument"
        yield f"the {noun} `{', '.join(item.names)}` is gone; it has to stay"


def _find_missing_outputs(old: Inventory, new: Inventory) -> Iterator[str]:
    """Yield the outputs that are missing; an output in both sources cannot replace another one."""
    same = Counter(old.outputs) & Counter(new.outputs)
    left = (Counter(old.outputs) - same).keys()
    others = list((Counter(new.outputs) - same).keys()) if old.is_exact else list(new.outputs)
    moved = [frozenset(extract_words(text)) for text in new.texts - old.texts]
    for item in left:
        if not (_is_reworded(item, others, moved) if item.words else others):
            yield f"the output {item.text.strip()[:100]!r} is gone; it has to stay"


def _is_reworded(item: OutputCall, others: list[OutputCall], moved: list[frozenset[str]]) -> bool:
    """Return whether a new output has most of the words, or all new outputs together have all."""
    needed = _MIN_WORD_COVERAGE * len(item.words)
    texts = [*(other.words for other in others), *moved]
    if any(len(item.words & words) >= needed for words in texts):
        return True
    return item.words <= frozenset(word for other in others for word in other.words)


def _report_rewrite(original: str, repaired: str) -> Iterator[str]:
    """Yield a line if little of a long script is unchanged; indentation is ignored."""
    old, new = _count_lines(original), _count_lines(repaired)
    kept, total = sum((old & new).values()), sum(old.values())
    if total >= _MIN_REWRITE_LINES and kept < _MIN_KEPT_SHARE * total:
        yield (
            f"only {kept} of {total} lines are as they were: "
            "change only what is wrong, and leave the rest as it is"
        )


def _count_lines(source: str) -> Counter[str]:
    return Counter(line.strip() for line in source.splitlines() if line.strip())


def _mask_volatile_parts(line: str) -> str:
    for pattern, by in _VOLATILE_PATTERNS:
        line = pattern.sub(by, line)
    return line.strip()
