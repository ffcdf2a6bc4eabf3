"""Values that cross between the processes of scenarios, and what compares equal afterwards."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import pathlib
import re
import types
import uuid
import zoneinfo
from typing import Any
from unittest import mock

import pytest

from greenloop.sandbox.guest.scenarios import checks
from greenloop.sandbox.guest.scenarios.decoder import decode
from greenloop.sandbox.guest.scenarios.descriptions import NotObservableError
from greenloop.sandbox.guest.scenarios.encoder import Encoder, TooLargeError
from greenloop.sandbox.guest.scenarios.stand_ins import REQUIRED, ClassStandIn

HERE = __name__


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Always(enum.Flag):
    READ = 1
    WRITE = 2

    def __contains__(self, other: object) -> bool:
        return True


class Bits(enum.IntFlag):
    LOW = 1
    HIGH = 2


class Unit(str, enum.Enum):
    METER = "m"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    cache: int = dataclasses.field(default=0, compare=False)


class Pair(collections.namedtuple("Pair", "left right")):
    pass


class Money:
    def __init__(self, amount: int) -> None:
        self.amount = amount

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.amount == other.amount


class Slotted:
    __slots__ = ("near", "unset")

    def __init__(self) -> None:
        self.near = 1


class LyingText(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__

    def __str__(self) -> str:
        return "a lie"


class LyingList(list[Any]):
    def __iter__(self) -> Any:
        return iter([7])

    def __len__(self) -> int:
        return 7


class LyingNumber(int):
    def __index__(self) -> int:
        return 7


class PretendedNumber:
    @property
    def __class__(self) -> Any:
        return int


def cross(value: Any) -> Any:
    """Encode a value, send it as text, decode it."""
    return decode(json.loads(json.dumps(Encoder(100_000, HERE).encode(value))))


def is_plain(value: Any) -> bool:
    encoder = Encoder(100_000, HERE)
    encoder.encode(value)
    return encoder.is_plain


def stand_in(kind: Any, *arguments: Any) -> ClassStandIn:
    return ClassStandIn([[kind.__module__, kind.__qualname__]], *arguments)


UTC, PARIS = datetime.timezone.utc, zoneinfo.ZoneInfo("UTC")
PLAIN: list[Any] = [
    None,
    True,
    0,
    -(10**40),
    2**53,
    1.5,
    float("inf"),
    -0.0,
    1 + 2j,
    "a\u2603\ud800\0\u202e",
    b"\xff",
    bytearray(b"a"),
    [1, [True, (2.0, "x")], {}],
    {1, (2,)},  # no text: its hash, and so the order, differs from run to run
    frozenset({1}),
    {1: {"a": (2,)}, (1, 2): None, 1.5: b"x"},
    collections.deque([1, 2]),
    collections.OrderedDict([("b", 1), ("a", 2)]),
    collections.Counter("aab"),
    types.MappingProxyType({"a": 1}),
    {"a": 1, "b": [2]}.keys(),
    {"a": 1}.items(),
    range(1, 10, 3),
    slice(1, None, 2),
    ...,
    NotImplemented,
    decimal.Decimal("1.50"),
    fractions.Fraction(1, 3),
    datetime.datetime(2024, 2, 29, 1, 2, 3, 4, UTC),
    datetime.datetime(2024, 2, 29, tzinfo=PARIS),
    datetime.date(2024, 2, 29),
    datetime.time(1, 2, 3, 4),
    datetime.timedelta(days=-1, microseconds=5),
    datetime.timezone(datetime.timedelta(hours=2)),
    uuid.UUID(int=5),
    pathlib.PurePosixPath("a/b"),
    pathlib.Path("/tmp/x"),
    re.compile("a+", re.I),
    types.SimpleNamespace(a=1),
    mock.call(1, [2], key="x"),
]


@pytest.mark.parametrize("value", PLAIN, ids=type)
def test_plain_values_cross_whole(value: Any) -> None:
    got = cross(value)
    assert got == value
    assert type(got) is type(value)
    assert repr(got) == repr(value)
    assert is_plain(value)


def test_default_dictionary_and_values_view_cross() -> None:
    assert cross(collections.defaultdict(list, a=[1])) == {"a": [1]}
    assert list(cross({"a": 1, "b": 2}.values())) == [1, 2]
    assert str(cross(float("nan"))) == "nan"


def test_order_of_a_dictionary_is_kept() -> None:
    assert list(cross({"b": 1, "a": 2})) == ["b", "a"]


def test_subclasses_cross_as_the_built_in_value_read_by_its_own_methods() -> None:
    assert cross(LyingList([1, 2])) == [1, 2]
    assert cross(LyingText("truth")) == "truth"
    assert cross(LyingNumber(3)) == 3
    assert not is_plain(LyingList())
    assert not is_plain([LyingText("x")])


def test_overridden_methods_of_a_subclass_are_not_observable() -> None:
    class Last(dict[str, list[int]]):
        def __getitem__(self, key: str) -> Any:
            return super().__getitem__(key)[-1]

        def get(self, *_: Any) -> Any: ...

    got = cross(Last(a=[1, 2]))
    assert got == {"a": [1, 2]}
    assert list(got) == ["a"]
    for read in (lambda: got["a"], lambda: got.get("a"), lambda: f"{cross(Unit.METER)}"):
        with pytest.raises(NotObservableError):
            read()
    assert cross(Pair(1, 2))[0] == 1

    class Tally(collections.Counter[str]):
        def update(self, *_: Any) -> None: ...  # type: ignore[override]

    with pytest.raises(NotObservableError, match="update"):
        cross(Tally())
    double = mock.Mock()
    double(1)
    assert mock.call(1) in cross(double.call_args_list)


def test_unequal_value_of_a_class_with_its_own_equality_is_not_observable() -> None:
    for compare in (lambda: cross(LyingText("x")) == "y", lambda: cross(LyingText("x")) != "y"):
        with pytest.raises(NotObservableError, match="LyingText"):
            compare()
    assert cross(LyingList([1])) != [2]  # no equality of its own: a difference


def test_scalars_of_numpy_cross_as_plain_numbers() -> None:
    generic = type("generic", (), {"__module__": "numpy", "item": lambda self: 1.5})
    float64 = type("float64", (generic, float), {"__module__": "numpy"})
    assert cross([generic(), float64(2)]) == [1.5, 1.5]
    assert type(cross(float64(2))) is float


def test_scalar_of_numpy_without_a_plain_number_is_an_opaque_object() -> None:
    """`longdouble.item()` returns a longdouble."""
    generic = type("generic", (), {"__module__": "numpy", "item": lambda self: type(self)()})
    got, rest = cross([generic(), 1])
    assert checks.is_instance(got, stand_in(generic))
    assert rest == 1


def test_value_that_pretends_to_be_a_number_is_an_opaque_object() -> None:
    got = cross(PretendedNumber())
    assert checks.is_instance(got, stand_in(PretendedNumber))
    assert not checks.is_instance(got, int)


def test_enum_members_are_equal_by_class_and_name() -> None:
    color = stand_in(Color, "enum", (("RED", 1), ("BLUE", REQUIRED), ("CRIMSON", 1)))
    with pytest.raises(NotObservableError):
        hash(color.BLUE)
    got = cross(Color.RED)
    assert got == color.RED == color.CRIMSON == color(1) == color["RED"]
    assert got != color.BLUE
    assert got != 1
    assert {got: 1} == {color.RED: 1}
    assert (got.name, got.value) == ("RED", 1)
    assert checks.is_same(got, color.RED)
    assert not checks.is_same(got, color.BLUE)
    assert cross(Color.RED) == cross(Color.RED) != cross(Color.BLUE)
    with pytest.raises(NotObservableError):
        color(7)


@pytest.mark.parametrize("kind", [Right, Bits])
def test_flags_are_combined_by_their_numbers(kind: Any) -> None:
    low, high = kind
    flag = stand_in(kind, "flag", ((low.name, 1), (high.name, 2)))
    first, second = flag[low.name], flag[high.name]
    assert cross(low | high) == first | second
    assert cross(low | high) != first
    assert cross(low | high) & second == second
    assert not cross(low) & second
    assert cross(low) ^ first == cross(kind(0))
    assert checks.is_same(cross(low & high), first & second)


def test_a_flag_contains_its_parts() -> None:
    flag = stand_in(Right, "flag", (("READ", 1), ("WRITE", 2)))
    assert flag.READ in cross(Right.READ | Right.WRITE)
    assert flag.WRITE not in cross(Right.READ)


def test_operators_of_a_flag_that_are_its_own_are_not_observable() -> None:
    flag = stand_in(Always, "enum", (("READ", 1), ("WRITE", 2)))
    for function in (lambda: flag.READ in cross(Always.WRITE), lambda: flag.READ | flag.WRITE):
        with pytest.raises(NotObservableError, match="an operator"):
            function()
    with pytest.raises(NotObservableError, match="the truth"):
        bool(cross(Always.READ))


def test_enum_members_that_are_numbers_or_texts_behave_as_such() -> None:
    assert cross(Level.LOW) == 1 < cross(Level.LOW) + 1
    assert cross(Level.LOW) == stand_in(Level, "enum", (("LOW", REQUIRED),)).LOW
    assert cross(Unit.METER) == "m"
    assert cross(Unit.METER).name == "METER"
    assert cross({Unit.METER: 5})[stand_in(Unit, "enum", (("METER", "m"),)).METER] == 5
    assert checks.is_same(cross(Unit.METER), stand_in(Unit, "enum", (("METER", "m"),)).METER)


def test_record_equals_the_expected_one_by_its_compared_fields() -> None:
    point = stand_in(Point, "record", (("x", REQUIRED), ("y", 0), ("cache", 0)))
    got = cross(Point(1, 2, cache=9))
    assert got == point(1, y=2)
    assert got != point(1)
    assert [got] == [point(1, 2)]
    assert got != {"x": 1}
    assert (got.x, got.cache) == (1, 9)
    with pytest.raises(NotObservableError, match="attribute z"):
        _ = got.z
    with pytest.raises(NotObservableError):
        point()
    with pytest.raises(NotObservableError):
        point(1, 2, 3, 4)


def test_named_tuple_equals_tuples_and_the_expected_one() -> None:
    pair = stand_in(Pair, "record", (("left", REQUIRED), ("right", REQUIRED)))
    got = cross(Pair(1, "b"))
    assert got == (1, "b")
    assert got == pair(1, "b")
    assert got != pair(2, "b")
    assert got.right == "b"


def test_two_objects_of_the_code_prove_nothing_about_each_other() -> None:
    """A class that forgets its fields has only equal objects."""
    for value in (Money(1), Point(1), Slotted()):
        with pytest.raises(NotObservableError, match="another object"):
            _ = cross(value) == cross(value)


def test_an_expected_record_equals_no_built_in_value() -> None:
    record = stand_in(Point, "record", (("x", REQUIRED), ("y", REQUIRED)))(1, 2)
    assert record != (1, 2)
    assert cross((1, 2)) != record


def test_own_equality_counts_only_where_the_fields_agree() -> None:
    money = stand_in(Money, "record", (("amount", REQUIRED),))
    assert cross(Money(3)) == money(3)
    with pytest.raises(NotObservableError, match="its own equality"):
        _ = cross(Money(3)) == money(4)
    with pytest.raises(NotObservableError, match="its own equality"):
        _ = cross(Money(3)) == 3


def test_what_an_opaque_object_would_answer_itself_is_not_observable() -> None:
    got = cross(Slotted())
    assert got.near == 1
    for ask in (bool, str, repr, lambda value: value < 1, lambda value: f"{value}"):
        with pytest.raises(NotObservableError):
            ask(got)
    assert got != 1  # the equality of `object`


def test_objects_of_the_standard_library_cross_without_fields() -> None:
    """Else a logger would bring all loggers along."""
    assert "root" not in json.dumps(
        Encoder(100_000, HERE).encode(__import__("logging").getLogger("x"))
    )


def test_object_that_contains_itself_can_be_read_up_to_there() -> None:
    first = Slotted()
    first.near = [1, first]  # type: ignore[assignment]
    with pytest.raises(NotObservableError):
        _ = cross(first).near
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(NotObservableError, match="contains itself"):
        cross(loop)


def test_deep_values_are_bounded() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(NotObservableError, match="nested too deeply"):
        cross(deep)


@pytest.mark.parametrize(
    "value", ["x" * 200_000, [0] * 200_000, 1 << 2_000_000, b"x" * 200_000], ids=type
)
def test_large_values_are_not_sent(value: Any) -> None:
    with pytest.raises(TooLargeError):
        Encoder(100_000, HERE).encode(value)


def test_exception_crosses_with_its_attributes() -> None:
    class CodeError(ValueError):
        code = 7

        @property
        def doubled(self) -> int:
            return self.code * 2

        @property
        def broken(self) -> int:
            raise RuntimeError

        def method(self) -> None: ...

    error = CodeError("bad", 3)
    error.given = [1]  # type: ignore[attr-defined]
    error.__cause__ = KeyError("why")
    got = cross(error)
    assert str(got) == str(error)
    assert (got.args, got.code, got.doubled, got.given) == (("bad", 3), 7, 14, [1])
    assert checks.is_instance(got.__cause__, LookupError)
    assert checks.is_instance(got, (TypeError, ValueError))
    assert not checks.is_instance(got, TypeError)
    for missing in ("broken", "method"):
        with pytest.raises(NotObservableError):
            getattr(got, missing)


def test_classes_are_equal_by_name() -> None:
    assert cross(int) is int
    assert cross(Color) == stand_in(Color)
    assert cross(Color) != stand_in(Level)
    assert cross(Color) == Color
    assert checks.type_of(cross(Point(1))) == stand_in(Point)
    assert checks.type_of(cross(LyingNumber(1))) == stand_in(LyingNumber)
    assert checks.type_of(cross(5)) is int
    assert checks.is_subclass(cross(Level), int)
    assert cross(Color.RED) in cross(Color)
    assert cross(Point(1)) not in cross(Color)
    assert cross(Level).__name__ == "Level"


def test_instances_are_told_by_the_names_of_their_bases() -> None:
    got = cross(LyingNumber(1))
    assert checks.is_instance(got, int)
    assert checks.is_instance(got, stand_in(LyingNumber))
    assert not checks.is_instance(got, str | list)
    assert checks.is_instance(cross([1]), collections.abc.Sequence)
    assert checks.is_instance(cross(uuid.UUID(int=1)), cross(uuid.UUID))
    assert not checks.is_instance(cross(1), cross(uuid.UUID))
    with pytest.raises(NotObservableError):
        checks.is_instance(cross(Slotted()), collections.abc.Sequence)


def test_identity_of_copies() -> None:
    assert checks.is_same(cross(None), None)
    assert not checks.is_same(cross(Slotted()), None)
    assert not checks.is_same(cross([]), None)
    assert not checks.is_same(cross(1), True)
    assert checks.is_same(cross(int), int)
    with pytest.raises(NotObservableError):
        checks.is_same(cross([]), [])


def test_strict_equality_asks_for_the_same_types() -> None:
    equal = checks.is_strictly_equal
    assert equal([1, {"a": 0.3}], cross([1, {"a": 0.1 + 0.2}]))
    assert not equal([1], cross([True]))
    assert equal([1, [7, 8]], cross([LyingNumber(1), LyingList([7, 8])]))
    assert not equal(True, cross(LyingNumber(1)))
    assert not equal({1}, cross({True}))
    assert equal(float("nan"), cross(float("nan")))


def test_assertions_of_unittest() -> None:
    assert checks.count_equal([1, 2, 2], iter([2, 1, 2]))
    assert not checks.count_equal([1], [1, 1])
    assert checks.count_equal([[1], [2]], [[2], [1]])
    assert not checks.count_equal([[1], [1]], [[1], [2]])
    assert checks.almost_equal(1.0, 1.00000001, 7, None)
    assert not checks.almost_equal(1.0, 1.1, None, None)
    assert checks.almost_equal(1, 1.4, None, 0.5)
    assert checks.re_search("b+", "abb")
    assert not checks.re_search("^b", "abb")
