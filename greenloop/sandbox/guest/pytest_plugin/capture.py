"""What tests print is kept in memory, and may be anything."""

from __future__ import annotations

from typing import Any


def accept_undecodable_output() -> None:
    """Bytes that are no UTF-8 and lone surrogates are replaced, as where pytest captures to files.

    Else the first test that prints such a thing breaks all that come after it.
    """
    from _pytest.capture import CaptureIO

    begin = CaptureIO.__init__

    def lenient(self: Any) -> None:
        begin(self)
        self.reconfigure(errors="replace")

    def getvalue(self: Any) -> str:
        return bytes(self.buffer.getvalue()).decode("utf-8", "replace")

    CaptureIO.__init__, CaptureIO.getvalue = lenient, getvalue  # type: ignore[method-assign]
