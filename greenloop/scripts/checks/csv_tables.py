"""CSV tables, parsed for checks."""

import csv
import io
from dataclasses import dataclass

_MAX_RAGGED_ROWS = 3
_SEPARATORS = {";": "a semicolon", "\t": "a tab", "|": "a bar"}


@dataclass(frozen=True)
class Table:
    """A CSV's header and its rows that are not blank, each with the line on which it ends."""

    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def shape(self) -> str:
        """The columns and the number of rows, as one line."""
        columns = ", ".join(self.header) or "none"
        return f"columns: {columns}; {format_count(len(self.rows), 'row')}"


def format_count(number: int, noun: str) -> str:
    """Return `1 row`, `2 rows`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def parse_table(text: str, file: str = "") -> Table:
    """Parse a CSV; files with the suffix `.tsv` are separated by tabs, all others by commas.

    Raises ValueError: it is not a valid CSV; the text says why and where.
    """
    delimiter = "\t" if file.lower().endswith(".tsv") else ","
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows = []
    try:
        for row in reader:
            if any(field.strip() for field in row):
                rows.append((reader.line_num, tuple(row)))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    if not rows:
        raise ValueError("it is empty")
    return Table(tuple(item.strip() for item in rows[0][1]), tuple(rows[1:]))


def find_ragged_rows(table: Table) -> list[str]:
    """Return the first rows with more or fewer fields than the header, a line each."""
    width = len(table.header)
    return [
        f"line {line} has {format_count(len(row), 'field')}, the header {width}: {','.join(row)[:120]}"
        for line, row in table.rows
        if len(row) != width
    ][:_MAX_RAGGED_ROWS]


def suggest_separator(table: Table) -> str:
    """Return a hint at another separator in the header; "" if there is none."""
    if len(table.header) != 1:
        return ""
    used = [name for sign, name in _SEPARATORS.items() if sign in table.header[0]]
    return f"the header seems to have {used[0]} between its fields" if used else ""
