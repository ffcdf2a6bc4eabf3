"""Checks of what a script prints and writes."""

from typing import Literal

from greenloop.records.base import Record

CheckKind = Literal[
    "status",
    "kept",
    "prints",
    "silent",
    "holds",
    "matches",
    "made",
    "filled",
    "rows",
    "json",
    "columns",
    "schema",
]
CheckOrigin = Literal["given", "generated"]
_PROCESS_KINDS = ("status", "kept")


class OutputCheck(Record):
    """One check of a script's run.

    `id` identifies it in reports and is unique in a list that `complete` made. `file` is the
    written file that it examines, relative to the working folder; "" is standard output. `kind`
    says what is checked, and which of the other fields are used:

    - `status`: the script ends by itself, with status 0
    - `kept`: what a healed script printed before is still printed; compared by the loop of `heal`
    - `prints`: something that is not blank is printed; `silent`: nothing is
    - `holds`: `text` is in it; `matches`: the regular expression `text` is found in it
      (multi-line: `^` and `$` are the ends of each line)
    - `made`: the file exists; `filled`: it exists and is not empty
    - `rows`: `rows` data rows (a CSV's header is not one of them), or lines of any other file
    - `json`: it parses as JSON
    - `columns`: a CSV with these columns in its header, each row as wide as the header
    - `schema`: it is JSON that is valid under the JSON Schema `text` (itself JSON)

    The user's checks (`given`) are locked; the model's (`generated`) may be disputed.
    """

    id: str
    kind: CheckKind
    origin: CheckOrigin = "given"
    file: str = ""
    text: str = ""
    columns: tuple[str, ...] = ()
    rows: int | None = None

    def __str__(self) -> str:
        """Return the check as one sentence, for prompts and users."""
        about = "the script" if self.kind in _PROCESS_KINDS else self.file or "standard output"
        return f"{about} {self._describe_expectation()}"

    def _describe_expectation(self) -> str:
        texts = {
            "status": "ends with status 0",
            "kept": "prints what it printed before",
            "prints": "is not blank",
            "silent": "is empty",
            "holds": f"holds {self.text!r}",
            "matches": f"has a match of the regular expression /{self.text}/",
            "made": "is made",
            "filled": "is made, and is not empty",
            "rows": f"has {self.rows} {'rows' if is_table(self.file) else 'lines'}",
            "json": "is JSON",
            "columns": f"is a CSV with the columns {', '.join(self.columns)}",
            "schema": f"is JSON as this JSON Schema has it: {self.text}",
        }
        return texts[self.kind]


def is_table(path: str) -> bool:
    """Whether a file is read as a table with a header, by its name."""
    return path.lower().endswith((".csv", ".tsv"))
