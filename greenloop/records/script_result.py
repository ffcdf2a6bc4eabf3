"""Files to run, a script's or a project's, and the result of a script's run."""

from collections.abc import Mapping

from pydantic import ConfigDict, Field

from greenloop.records.base import Record
from greenloop.records.pytest_run import Ending, Frame, LimitName


class Base64Record(Record):
    """A record whose bytes are base64 in JSON."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


class InputFile(Base64Record):
    """A file as a run sees it: `path` is relative to its working folder, with `/` between parts."""

    path: str
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class Project(Base64Record):
    """The files of a project; paths are relative to its root.

    `targets` are test files or folders, '' or `.` for all. `overlay` are files that replace those
    of the same path, or are new. `removed` are paths of files that are there and do not belong to it.
    `left_out` says what was not read. Where tests are shuffled, those
    of the files `last` still run last.
    """

    files: tuple[InputFile, ...]
    targets: tuple[str, ...] = ()
    overlay: tuple[InputFile, ...] = ()
    left_out: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def with_overlay(self, sources: Mapping[str, str]) -> "Project":
        """Return the project with these sources, by path, in place of its overlay."""
        overlay = (InputFile(path=path, content=text.encode()) for path, text in sources.items())
        return self.model_copy(update={"overlay": tuple(overlay)})

    @property
    def all_files(self) -> dict[str, bytes]:
        """Return all files by path, those of the overlay included."""
        return {item.path: item.content for item in (*self.files, *self.overlay)}


class ScriptJob(Base64Record):
    """A script to run as `python NAME ARGUMENTS` in a new folder with the inputs.

    A `script` given as text is written in the encoding that it declares. `name` may contain
    folders. Where not all written files can be returned, those that match one of `keep` (patterns
    of `fnmatch`) come first. `timeout_s` None is the sandbox's limit. `allow_network` names the
    only hosts that it may reach: `example.org`, `*.example.org`, each with or without `:PORT`.
    """

    script: str | bytes
    name: str = "script.py"
    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    inputs: tuple[InputFile, ...] = ()
    keep: tuple[str, ...] = ()
    timeout_s: float | None = Field(None, gt=0)
    allow_network: tuple[str, ...] = ()


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


class NetworkRequest(Record):
    """One request to the proxy; sizes in bytes. `why` says why it was denied."""

    host: str
    port: int
    method: str
    allowed: bool
    why: str = ""
    sent: int = 0
    received: int = 0


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
    network: tuple[NetworkRequest, ...] = ()
    limits_hit: tuple[LimitName, ...] = ()
    duration_s: float = 0.0

    @property
    def succeeded(self) -> bool:
        """Whether it ended with status 0, without an error, and did not change its inputs."""
        return (
            self.ending == "finished"
            and self.exit_status == 0
            and self.error is None
            and not self.changed_inputs
        )
