"""Stand-in for what could not be observed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Unavailable:
    """The value of an observation that raised: whatever is done with it is done in silence."""

    def _return_itself(self, *_: Any, **__: Any) -> Any:
        return self

    __getattr__ = __call__ = __getitem__ = __enter__ = _return_itself
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _return_itself

    def __setattr__(self, name: str, value: Any) -> None: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __delitem__(self, key: Any) -> None: ...
    def __exit__(self, *_: Any) -> None: ...

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __await__(self) -> Any:
        yield from ()
        return self

    async def __aenter__(self) -> Unavailable:
        return self

    async def __aexit__(self, *_: Any) -> None: ...
