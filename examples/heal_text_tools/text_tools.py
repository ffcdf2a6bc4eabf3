"""Small helpers for plain text: wrapping, tables, counting, slugs."""

import re
import unicodedata


def words(text):
    """The words of a text, lower case; an apostrophe inside a word belongs to it."""
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())


def most_common(text, n=3):
    """The n most frequent words with their counts; the same count in alphabetical order."""
    counts = {}
    for word in words(text):
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: item[1], reverse=True)
    return ranked[:n]


def slug(title, longest=40):
    """A title as part of an address: ASCII, lower case, hyphens; cut at a hyphen."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    joined = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    if len(joined) <= longest:
        return joined
    cut = joined[:longest]
    return cut.rpartition("-")[0] or cut


def wrap(text, width):
    """The text in lines of at most `width` characters; a longer word has a line of its own.

    Paragraphs (blank lines between them) stay apart by one blank line.
    """
    if width < 1:
        raise ValueError("width must be at least 1")
    lines = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if lines:
            lines.append("")
        line = ""
        for word in paragraph.split():
            if line and len(line) + len(word) > width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return "\n".join(lines)


def table(rows, gap=2):
    """Rows of values as text: columns as wide as their widest value, numbers to the right."""
    if not rows:
        return ""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    out = []
    for row in rows:
        cells = []
        for value, width in zip(row, widths):
            text = str(value)
            right = isinstance(value, (int, float))
            cells.append(text.rjust(width) if right else text.ljust(width))
        out.append((" " * gap).join(cells).rstrip())
    return "\n".join(out)
