"""A question put to a process of its own, so that its time is bounded whatever is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence


def query_subprocess(program: Sequence[str], request: object, timeout_s: float) -> object:
    """What a Python program answers to a request: JSON in, JSON out.

    Raises:
        TimeoutError: it had no answer in that time.
        RuntimeError: it failed; the text is the last line that it said.
    """
    try:
        ended = subprocess.run(
            [sys.executable, *program],
            input=json.dumps(request),
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
    value: object = json.loads(ended.stdout)
    return value
