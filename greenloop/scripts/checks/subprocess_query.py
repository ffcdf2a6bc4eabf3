"""Regular expressions and JSON Schemas, evaluated in a subprocess with a time limit.

Both may take any time on output of untrusted code: `re` cannot be interrupted, and the library
`regex`, which can be, used all memory for a pattern of 25 characters.
"""

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

_MATCH_TIMEOUT_SECONDS, _SCHEMA_TIMEOUT_SECONDS = 5.0, 20.0
_MAX_PATTERN_CHARS = 1000
_MATCH_PROGRAM = (
    "import json, re, sys; query = json.load(sys.stdin); "
    "print(json.dumps(bool(re.compile(query['pattern'], re.M).search(query['text']))))"
)
_SCHEMA_PROGRAM = Path(__file__).with_name("json_schema_worker.py")


def check_pattern(pattern: str) -> None:
    """Check that a regular expression is valid.

    Raises ValueError: it is invalid, or too long; the text says why and where.
    """
    if len(pattern) > _MAX_PATTERN_CHARS:
        raise ValueError(f"it is longer than {_MAX_PATTERN_CHARS} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ValueError(str(error)) from None
    except (OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is too much: {type(error).__name__}") from None


def has_match(pattern: str, text: str) -> bool:
    """Return whether the pattern is found in the text; `^` and `$` match at each line.

    Raises:
        TimeoutError: it took more than 5 seconds.
        ValueError: the pattern is invalid.
        RuntimeError: the search failed.
    """
    check_pattern(pattern)
    program = ["-I", "-S", "-W", "ignore", "-c", _MATCH_PROGRAM]
    query = {"pattern": pattern, "text": text}
    return _query_subprocess(program, query, _MATCH_TIMEOUT_SECONDS) is True


def find_schema_error(schema: object) -> str:
    """Return why a value is not a JSON Schema; "" if it is one."""
    return "; ".join(_query_schema_worker({"schema": schema}))


def find_schema_violations(schema: str, instance: object) -> list[str]:
    """Return the first violations of a schema (JSON text) by a JSON value, a line each."""
    return _query_schema_worker({"schema": json.loads(schema), "instance": instance})


def _query_schema_worker(query: dict[str, object]) -> list[str]:
    try:
        errors = _query_subprocess([str(_SCHEMA_PROGRAM)], query, _SCHEMA_TIMEOUT_SECONDS)
    except (TimeoutError, RuntimeError) as error:
        return [f"it could not be validated: {error}"]
    return [f"{path}: {message}" for path, message in errors] if isinstance(errors, list) else []


def _query_subprocess(program: Sequence[str], query: object, timeout_s: float) -> object:
    """Return what a Python program answers to a query, both as JSON.

    Raises:
        TimeoutError: it did not answer in time.
        RuntimeError: it failed; the text is the last line of its standard error.
    """
    try:
        ended = subprocess.run(
            [sys.executable, *program],
            input=json.dumps(query),
            capture_output=True,
            encoding="utf-8",
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"no answer within {timeout_s:g} s") from None
    except (OSError, ValueError, RecursionError) as error:
        raise RuntimeError(str(error)) from None
    if ended.returncode != 0:
        last = ended.stderr.strip().rpartition("\n")[2]
        raise RuntimeError(last or f"status {ended.returncode}")
    try:
        value: object = json.loads(ended.stdout)
    except ValueError as error:
        raise RuntimeError(str(error)) from None
    return value
