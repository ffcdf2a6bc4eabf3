"""Messages sorted by lane: each thread that asks has its own, so that answers find their asker.

Whoever waits reads for all. A request on a lane that nobody here waits on is answered in a thread of
its own.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from .errors import Broken
from .wire import Message, Wire

_MOST_LANES = 64


class Post:
    """`leads`: on the side of the tests. `answer(lane, message)` answers what nobody waits for."""

    def __init__(self, wire: Wire, leads: bool) -> None:
        self._wire, self.leads = wire, leads
        self._state = threading.Condition()
        self._reading = False
        self._boxes: dict[int, deque[Message]] = {0: deque()}
        self._lanes: dict[int, int] = {threading.get_ident(): 0}
        self._waiting: set[int] = set()
        self._gone: str | None = None
        self.answer: Callable[[int, Message], None]

    def lane(self) -> int:
        """The lane of this thread; 0 is the one on which it began."""
        thread = threading.get_ident()
        with self._state:
            if thread not in self._lanes:
                count = len(self._lanes)
                if count >= _MOST_LANES:
                    raise Broken("too many threads talk at the same time")
                self._lanes[thread] = count if self.leads else -count
                self._boxes.setdefault(self._lanes[thread], deque())
            return self._lanes[thread]

    def send(self, lane: int, message: Message) -> None:
        self._wire.send({**message, "lane": lane})

    def receive(self, lane: int) -> Message:
        """The next message on a lane. Raises Broken where none will come."""
        with self._state:
            self._waiting.add(lane)
            try:
                while not self._boxes[lane]:
                    if self._gone is not None:
                        raise Broken(self._gone)
                    if self._reading:
                        self._state.wait()
                    else:
                        self._read_one()
            finally:
                self._waiting.discard(lane)
            return self._boxes[lane].popleft()

    def _read_one(self) -> None:
        """With the lock held, which is free while this waits."""
        self._reading = True
        self._state.release()
        message, gone = None, None
        try:
            message = self._wire.receive()
        except Broken as error:
            gone = str(error)
        finally:
            self._state.acquire()
            self._reading = False
            self._gone = self._gone or gone
            self._state.notify_all()
        if message is not None:
            self._sort(message)

    def _sort(self, message: Message) -> None:
        lane = message.pop("lane", None)
        if type(lane) is not int or abs(lane) > _MOST_LANES:
            self._gone = "it sent a message to nobody"
        elif lane in self._waiting or lane in self._lanes.values():
            self._boxes[lane].append(message)
        elif "do" in message:
            thread = threading.Thread(target=self._answer, args=(lane, message), daemon=True)
            thread.start()

    def _answer(self, lane: int, message: Message) -> None:
        with self._state:
            self._lanes[threading.get_ident()] = lane
            self._boxes.setdefault(lane, deque())
        waiting: Message | None = message
        try:
            while waiting is not None:
                self.answer(lane, waiting)
                waiting = self._next(lane)
        except Broken as error:
            with self._state:
                self._gone = self._gone or str(error)
                self._state.notify_all()

    def _next(self, lane: int) -> Message | None:
        """What has come meanwhile; else this thread is done, before anybody counts on it again."""
        with self._state:
            if self._boxes[lane]:
                return self._boxes[lane].popleft()
            del self._lanes[threading.get_ident()]
            return None

    def stand_by(self) -> None:
        """Reads in a thread of its own, so that one side may begin while the other is at work."""
        threading.Thread(target=self._always, daemon=True, name="split").start()

    def _always(self) -> None:
        with self._state:
            while self._gone is None:
                if self._reading:
                    self._state.wait()
                else:
                    self._read_one()
