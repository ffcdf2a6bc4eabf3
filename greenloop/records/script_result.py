"""Records of script runs: output, produced files, and checks of both."""

from collections.abc import Mapping
from typing import Literal

from pydantic import ConfigDict, Field

from greenloop.encodings import encode_source
from greenloop.records.base import Record
from greenloop.records.pytest_run import Ending, Frame, LimitName


class Base64Record(Record):
    """A record whose bytes are base64 in JSON."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


class InputFile(Base64Record):
    """An input file of a run; `path` is relative to the working folder, with `/` between parts."""

    path: str
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class Project(Base64Record):
    """The files of a project; paths are relative to its root.

    `targets` are test files or folders, '' or `.` for all. `overlay` are new files, and files that
    replace those of the same path. `removed` are paths of existing files that do not belong to the
    project. `generated` are paths of files that stand for what a build or an installation makes.
    `excess` says that the project is larger than a sandbox holds without a copy on disk; `files`
    are then code only.
    """

    files: tuple[InputFile, ...]
    targets: tuple[str, ...] = ()
    overlay: tuple[InputFile, ...] = ()
    removed: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    excess: str = ""

    def with_overlay(self, sources: Mapping[str, str]) -> "Project":
        """Return the project with `sources`, texts by path, as its overlay."""
        overlay = (
            InputFile(path=path, content=encode_source(text)) for path, text in sources.items()
        )
        return self.model_copy(update={"overlay": tuple(overlay)})

    @property
    def all_files(self) -> dict[str, bytes]:
        """Return all files by path, those of the overlay included."""
        return {item.path: item.content for item in (*self.files, *self.overlay)}

    @property
    def own_files(self) -> dict[str, bytes]:
        """Return `all_files` without the generated ones, of which an environment has its own."""
        gone = set(self.generated) - {item.path for item in self.overlay}
        return {path: text for path, text in self.all_files.items() if path not in gone}


class ScriptJob(Base64Record):
    """A script to run as `python NAME ARGUMENTS` in a new folder with the inputs.

    A `script` given as text is written in the encoding that it declares. `name` may contain
    folders. Where not all written files can be returned, those that match one of `keep` (patterns
    of `fnmatch`) come first. `timeout_s` None is the sandbox's limit.
    """

    script: str | bytes
    name: str = "script.py"
    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    inputs: tuple[InputFile, ...] = ()
    keep: tuple[str, ...] = ()
    timeout_s: float | None = Field(None, gt=0)


class ProducedFile(Base64Record):
    """A file that the script wrote; `size` in bytes, `sha256` in hexadecimal digits.

    `content` is None, and `sha256` empty, where it was too large to be returned.
    """

    path: str
    size: int
    sha256: str = ""
    content: bytes | None = None

    @property
    def text(self) -> str:
        return (self.content or b"").decode("utf-8", "replace")


class ScriptFrame(Frame):
    """One line of a traceback; `local_values` are (name, short repr), secrets as `***`."""

    local_values: tuple[tuple[str, str], ...] = ()


class ScriptError(Record):
    """The exception that ended a script; `frames` are in its own files, the outermost first.

    It is reported by the script's process, so it can be forged, unlike the exit status.
    """

    exception: str
    message: str
    frames: tuple[ScriptFrame, ...] = ()


class ScriptRun(Base64Record):
    """One run of a script. Only `succeeded` says whether it succeeded.

    `ending` says how the process ended, `detail` the same in words, with the signal or limit.
    `exit_status` is negative for a signal. Standard output and error are UTF-8 with replacements;
    where they are too long the middle is cut out, and `…_cut` says so. `made` are regular files
    only; `left_out` says what else was written and why it was not returned. `changed_inputs` are
    inputs that were changed or removed. `where` is the stack at the time limit.
    """

    ending: Ending
    detail: str = ""
    exit_status: int | None = None
    stdout: str = ""
    stdout_cut: bool = False
    stderr: str = ""
    stderr_cut: bool = False
    made: tuple[ProducedFile, ...] = ()
    left_out: tuple[str, ...] = ()
    changed_inputs: tuple[str, ...] = ()
    error: ScriptError | None = None
    where: tuple[Frame, ...] = ()
    limits_hit: tuple[LimitName, ...] = ()
    duration_s: float = 0.0

    @property
    def succeeded(self) -> bool:
        """Whether the script ended with status 0, without an error, and kept its inputs."""
        return (
            self.ending == "finished"
            and self.exit_status == 0
            and self.error is None
            and not self.changed_inputs
        )


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
    """Return whether a file's name says that it is read as a table with a header."""
    return path.lower().endswith((".csv", ".tsv"))
