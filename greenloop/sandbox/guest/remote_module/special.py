"""Names with two underscores that are asked of the other side, sorted by what they do."""

from __future__ import annotations

COMPARING = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__".split())
_OPERATORS = "add sub mul truediv floordiv mod divmod pow matmul lshift rshift and or xor".split()
CALCULATING = frozenset(f"__{side}{name}__" for name in _OPERATORS for side in ("", "r"))
_IN_PLACE = frozenset(f"__i{name}__" for name in _OPERATORS if name != "divmod")
WAITING = frozenset("__aenter__ __aexit__ __anext__".split())
SPECIAL = (
    COMPARING
    | CALCULATING
    | _IN_PLACE
    | WAITING
    | frozenset(
        "__hash__ __bool__ __len__ __length_hint__ __iter__ __next__ __reversed__ __contains__ "
        "__getitem__ __setitem__ __delitem__ __missing__ __call__ __enter__ __exit__ __aiter__ "
        "__await__ __repr__ __str__ __bytes__ __format__ __int__ __float__ __complex__ __index__ "
        "__neg__ __pos__ __abs__ __invert__ __round__ __trunc__ __floor__ __ceil__ __fspath__ "
        "__init__ __post_init__".split()
    )
)
# Beside these, of what an object has only names without two underscores are asked for, and:
READABLE = frozenset(
    "__dict__ __doc__ __name__ __qualname__ __version__ __all__ __wrapped__ __cause__ __author__".split()
)


def may_be_read(name: str) -> bool:
    return name in READABLE or not (name.startswith("__") and name.endswith("__"))
