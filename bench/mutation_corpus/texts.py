"""Text: words, slugs, wrapping, tables."""

from __future__ import annotations

import re

SMALL_WORDS = frozenset({"a", "an", "and", "of", "or", "the", "to"})


def slug(text: str, most: int | None = None) -> str:
    """Lower-case words joined by hyphens; at most `most` characters, never ending in a hyphen."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    joined = "-".join(words)
    if most is not None:
        if most < 1:
            raise ValueError("most must be positive")
        joined = joined[:most].rstrip("-")
    return joined


def title(text: str) -> str:
    """Each word with a capital, but small words only at the beginning and the end."""
    words = text.lower().split()
    last = len(words) - 1
    done = []
    for position, word in enumerate(words):
        if word in SMALL_WORDS and 0 < position < last:
            done.append(word)
        else:
            done.append(word[0].upper() + word[1:])
    return " ".join(done)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters; longer words are cut."""
    if width < 1:
        raise ValueError("width must be positive")
    lines: list[str] = []
    line = ""
    for word in text.split():
        while len(word) > width:
            if line:
                lines.append(line)
                line = ""
            lines.append(word[:width])
            word = word[width:]
        if not line:
            line = word
        elif len(line) + 1 + len(word) <= width:
            line += " " + word
        else:
            lines.append(line)
            line = word
    if line:
        lines.append(line)
    return lines


def shortened(text: str, most: int, mark: str = "...") -> str:
    """The text, or as many whole words of it as fit together with the mark."""
    if len(text) <= most:
        return text
    room = most - len(mark)
    if room <= 0:
        return mark[:most]
    cut = text[:room]
    if text[room] != " " and " " in cut:
        cut = cut[: cut.rindex(" ")]
    return cut.rstrip() + mark


def table(rows: list[list[str]], gap: int = 2) -> str:
    """Columns as wide as their widest cell; the last one is not filled up."""
    if not rows:
        return ""
    count = max(len(row) for row in rows)
    widths = [max(len(row[i]) if i < len(row) else 0 for row in rows) for i in range(count)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append((" " * gap).join(cells).rstrip())
    return "\n".join(lines)


def counted(text: str) -> dict[str, int]:
    """How often each word comes, most frequent first, then by the alphabet."""
    counts: dict[str, int] = {}
    for word in re.findall(r"[a-z']+", text.lower()):
        counts[word] = counts.get(word, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
