"""The conversation: requests and answers, nested where one side calls back the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from .codec import Codec
from .errors import Apart, Broken, CannotSplit
from .post import Post

_MOST_WORDS = 500
_CALLS = frozenset({"call", "method", "inherited", "special"})


class Around(Protocol):
    """What crosses besides values: output, warnings, the environment …"""

    def give(self) -> dict[str, Any]: ...

    def take(self, message: dict[str, Any]) -> None: ...


class Peer:
    """One side. `serve(operation, arguments)` does what the other asks for."""

    def __init__(self, post: Post, codec: Codec, around: Around) -> None:
        self._post, self._codec, self._around = post, codec, around
        self.serve: Callable[[str, Any], Any]
        self.raised_with: Callable[[BaseException], Any] = lambda error: None
        self.rebuilt: Callable[[BaseException, Any], BaseException] = lambda error, _: error
        self.trouble: str | None = None  # nothing goes on after it
        self.refused: str | None = None  # something could not be told
        self._lock, self._nested = threading.RLock(), 0

    def ask(self, operation: str, *arguments: Any) -> Any:
        """What the other side answers. Raises what it raises, or one of `errors`."""
        if self.trouble is not None:
            raise Broken(self.trouble)
        lane = self._post.lane()
        if operation in _CALLS and type(arguments[-1]) is dict:  # not a container of the tests
            arguments = (*arguments[:-1], tuple(arguments[-1].items()))
        try:
            self._send(lane, {"do": operation}, arguments)
            self._nested += 1
            return self._awaited(lane)
        except Broken as error:
            self.trouble = str(error)
            raise
        except CannotSplit as error:
            self.refused = str(error)
            raise

    def _awaited(self, lane: int) -> Any:
        """The answer to the last request on a lane; requests that come before it are answered."""
        try:
            while True:
                message = self._post.receive(lane)
                if "over" in message:
                    raise Broken(str(message["over"])[:_MOST_WORDS])
                if "do" not in message:
                    return self._answer(message)
                self.answer(lane, message)
        finally:
            self._nested -= 1

    def answer(self, lane: int, message: dict[str, Any]) -> None:
        """Does what one request asks for, and says what came of it."""
        head: dict[str, Any] = {"did": True}
        try:
            arguments = self._unpacked(message)
            if type(arguments) is not tuple or not isinstance(message["do"], str):
                raise Broken("it asked for what cannot be asked for")
            value = self.serve(message["do"], arguments)
        except Broken:
            raise
        except CannotSplit as error:
            self._cannot(lane, error)
            return
        except BaseException as error:
            head, value = {"raised": self.raised_with(error)}, error
        self._reply(lane, head, value)

    def _reply(self, lane: int, head: dict[str, Any], value: Any) -> None:
        try:
            self._send(lane, head, value)
        except CannotSplit as error:
            self._cannot(lane, error)

    def _cannot(self, lane: int, error: CannotSplit) -> None:
        """Both sides know of it, so that nobody takes it for an error that was awaited."""
        self.refused = str(error)
        self._send(lane, {"cannot": str(error)}, None)

    def _send(self, lane: int, head: dict[str, Any], value: Any) -> None:
        with self._lock:
            old = self._codec.heap.surplus() if self._post.leads and not self._nested else []
            message = {**head, **self._around.give(), **self._codec.packed(value)}
            if old:
                message["forget"] = old
            self._post.send(lane, message)

    def _unpacked(self, message: dict[str, Any]) -> Any:
        if not self._post.leads:
            self._codec.heap.forget(message.get("forget", ()))
        with self._lock:
            value = self._codec.unpacked(message)
        self._around.take(message)
        return value

    def _answer(self, message: dict[str, Any]) -> Any:
        value = self._unpacked(message)
        if "cannot" in message:
            raise CannotSplit(str(message["cannot"])[:_MOST_WORDS])
        if "raised" not in message:
            return value
        if not isinstance(value, BaseException) or isinstance(value, Apart):
            raise Broken("it raised what cannot be raised")
        raise self.rebuilt(value, message["raised"])

    def give_up(self, why: str) -> None:
        """Tells the other side that nothing more will come."""
        self._post.send(self._post.lane(), {"over": why})

    def listen(self) -> None:
        """Answers requests until the other side is gone."""
        lane = self._post.lane()
        while True:
            message = self._post.receive(lane)
            if "do" in message:
                self.answer(lane, message)
