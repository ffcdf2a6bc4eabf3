"""Regressions of a repair: features of the first version that the repaired script lacks."""

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterator

from greenloop.records.script_result import ScriptRun
from greenloop.syntax.parse import parse_or_empty

MAX_REGRESSIONS = 12
_MIN_REWRITE_LINES, _MIN_KEPT_SHARE = 25, 0.4
_MIN_WORD_COVERAGE, _MIN_LINE_SIMILARITY = 0.6, 0.8
_MAX_COMPARED, _MAX_LOST_LINES = 400, 5
_QUOTED = r"""(?:'([^'\n]*)'|"([^"\n]*)")"""
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_COMMAND_LINE = re.compile(
    r"sys\.argv|ArgumentParser|OptionParser|getopt|typer|click|docopt|\bfire\b"
)
_DECLARING_CALL = re.compile(
    r"""\b(?:add_argument|add_option|add_parser|option|argument)[ \t]*\(((?:\s*['"][\w-]+['"]\s*,?)+)"""
)
_NAME = re.compile(r"""['"]([\w-]+)['"]""")
_OPTION = re.compile(r"""['"](--?[A-Za-z][\w-]*)['"]""")
_TEXT = re.compile(_QUOTED)
_OUTPUT = re.compile(
    rf"""\b(?:print|write|echo|debug|info|warning|error)\b[ \t]*\(?[ \t]*[fFuUrRbB]{{0,2}}{_QUOTED}"""
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_FORMAT_FIELD = re.compile(r"\\[nrt]|%(\(\w+\))?[-+ #0]*[\d*]*(\.[\d*]+)?[a-zA-Z]|\{[^{}]*\}")
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

    `original` is the first version after the automatic fixes. Both are searched by patterns, as the
    original need not parse. What was renamed, partly reworded, merged or moved is not missing. At
    most `MAX_REGRESSIONS` lines are returned; the last one says how much was rewritten.
    """
    lines = list(_find_missing_definitions(original, repaired))
    if _COMMAND_LINE.search(original) and not _COMMAND_LINE.search(repaired):
        lines.append("the script no longer reads its command line; it has to")
    else:
        lines += _find_missing_options(original, repaired)
    lines += _find_missing_outputs(original, repaired)
    return [*lines[: MAX_REGRESSIONS - 1], *_report_rewrite(original, repaired)]


def find_suppressed_errors(original: str, repaired: str) -> Iterator[str]:
    """Yield a line for each new `except` of a repair that neither handles nor reports."""
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
    printed_now = dict.fromkeys(map(_mask_volatile_parts, current.stdout.split("\n")))
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


def _find_missing_definitions(old: str, new: str) -> Iterator[str]:
    """Yield missing definitions, unless as many were added, which may be the new names."""
    before, now = ({name: kind for kind, name in _DEFINITION.findall(text)} for text in (old, new))
    gone, added = [name for name in before if name not in now], now.keys() - before.keys()
    if len(gone) > len(added):
        for name in gone:
            kind = "class" if before[name] == "class" else "function"
            yield f"the {kind} `{name}` is gone; it has to stay"


def _find_missing_options(old: str, new: str) -> Iterator[str]:
    """Yield options, arguments and subcommands without a name left; dashes do not count."""
    declared = [tuple(_NAME.findall(text)) for text in _DECLARING_CALL.findall(old)]
    known = {name for names in declared for name in names}
    others = dict.fromkeys(name for name in _OPTION.findall(old) if name not in known)
    there = {name.lstrip("-") for name in _NAME.findall(new)}
    for names in [*declared, *((name,) for name in others)]:
        if there.isdisjoint(name.lstrip("-") for name in names):
            noun = "option" if names[0].startswith("-") else "argument"
            yield f"the {noun} `{', '.join(names)}` is gone; it has to stay"


def _find_missing_outputs(old: str, new: str) -> Iterator[str]:
    """Yield texts of outputs, unless one new text has most words or all together have all."""
    added = Counter(map(_pick, _TEXT.findall(new))) - Counter(map(_pick, _TEXT.findall(old)))
    texts = [_list_words(text) for text in added]
    together = frozenset().union(*texts)
    gone = Counter(map(_pick, _OUTPUT.findall(old))) - Counter(map(_pick, _TEXT.findall(new)))
    for text in gone:
        words = _list_words(text)
        needed = _MIN_WORD_COVERAGE * len(words)
        if not words <= together and all(len(words & item) < needed for item in texts):
            yield f"the output {text.strip()[:100]!r} is gone; it has to stay"


def _pick(quoted: tuple[str, str]) -> str:
    return quoted[0] or quoted[1]


def _list_words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without format fields."""
    return frozenset(item.lower() for item in _WORD.findall(_FORMAT_FIELD.sub(" ", text)))


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
