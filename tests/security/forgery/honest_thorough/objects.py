"""Objects: descriptors, metaclasses, singletons, registries, proxies, state, callbacks."""

from __future__ import annotations

from tests.security.forgery.case import Odd

THOROUGH = {
    "descriptors that check": Odd(
        """
class Checked:
    def __init__(self, kind, low=None):
        self._kind, self._low = kind, low

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, item, owner=None):
        if item is None:
            return self
        return vars(item)[self._name]

    def __set__(self, item, value):
        if not isinstance(value, self._kind):
            raise TypeError(f"{self._name}: {self._kind.__name__} wanted")
        if self._low is not None and value < self._low:
            raise ValueError(f"{self._name}: at least {self._low}")
        vars(item)[self._name] = value


class Product:
    name = Checked(str)
    price = Checked(int, 1)

    def __init__(self, name, price):
        self.name = name
        self.price = price
""",
        """
import pytest

from m import Checked, Product


def test_values():
    product = Product("pen", 120)
    assert product.name == "pen"
    assert product.price == 120


def test_on_the_class():
    assert isinstance(Product.price, Checked)


def test_types():
    with pytest.raises(TypeError, match="name: str wanted"):
        Product(5, 1)
    with pytest.raises(TypeError, match="price: int wanted"):
        Product("pen", "1")


def test_bound():
    with pytest.raises(ValueError, match="price: at least 1"):
        Product("pen", 0)
    assert Product("pen", 1).price == 1


def test_set_later():
    one, other = Product("pen", 5), Product("ink", 6)
    one.price = 7
    assert (one.price, other.price) == (7, 6)
    with pytest.raises(ValueError):
        one.price = -1
    assert one.price == 7
""",
    ),
    "a metaclass that keeps a list": Odd(
        """
class Registered(type):
    def __init__(cls, name, bases, space):
        super().__init__(name, bases, space)
        if not bases:
            cls.kinds = {}
        else:
            cls.kinds[space.get("tag", name.lower())] = cls

    def __contains__(cls, tag):
        return tag in cls.kinds


class Shape(metaclass=Registered):
    def __init__(self, size):
        self.size = size

    @classmethod
    def make(cls, text):
        tag, _, size = text.partition(":")
        if tag not in cls:
            raise LookupError(f"no shape {tag}")
        return cls.kinds[tag](int(size))


class Square(Shape):
    def area(self):
        return self.size**2


class Bar(Shape):
    tag = "line"

    def area(self):
        return self.size
""",
        """
import pytest

from m import Bar, Shape, Square


def test_kinds():
    assert sorted(Shape.kinds) == ["line", "square"]
    assert Shape.kinds["line"] is Bar


def test_contains():
    assert "square" in Shape
    assert "bar" not in Shape


@pytest.mark.parametrize("text, kind, area", [("square:4", Square, 16), ("line:7", Bar, 7)])
def test_make(text, kind, area):
    made = Shape.make(text)
    assert type(made) is kind
    assert made.area() == area


def test_unknown():
    with pytest.raises(LookupError, match="no shape circle"):
        Shape.make("circle:3")


def test_a_new_kind():
    class Cube(Square):
        def area(self):
            return 6 * super().area()

    try:
        assert Shape.make("cube:2").area() == 24
    finally:
        del Shape.kinds["cube"]
""",
    ),
    "one object for all": Odd(
        """
class Registry:
    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
            cls._one.values = {}
        return cls._one

    def set(self, name, value):
        before = self.values.get(name)
        self.values[name] = value
        return before

    def get(self, path, default=None):
        found = self.values
        for part in path.split("."):
            if not isinstance(found, dict) or part not in found:
                return default
            found = found[part]
        return found

    @classmethod
    def reset(cls):
        cls._one = None
""",
        """
import unittest

from m import Registry


class TestRegistry(unittest.TestCase):
    def setUp(self):
        Registry.reset()
        self.registry = Registry()

    def test_one_only(self):
        self.assertIs(Registry(), self.registry)

    def test_shared(self):
        self.registry.set("a", 1)
        self.assertEqual(Registry().get("a"), 1)

    def test_reset(self):
        self.registry.set("a", 1)
        Registry.reset()
        self.assertIsNot(Registry(), self.registry)
        self.assertIsNone(Registry().get("a"))

    def test_before(self):
        self.assertIsNone(self.registry.set("a", 1))
        self.assertEqual(self.registry.set("a", 2), 1)
        self.assertEqual(self.registry.get("a"), 2)

    def test_paths(self):
        self.registry.set("db", {"host": {"name": "x"}, "port": 5432})
        cases = [("db.port", 5432), ("db.host.name", "x"), ("db.none", 7), ("db.port.x", 7), ("q", 7)]
        for path, expected in cases:
            with self.subTest(path=path):
                self.assertEqual(self.registry.get(path, 7), expected)
""",
    ),
    "plugins by a decorator": Odd(
        """
import inspect

_PLUGINS = {}


def plugin(name, *, priority=0):
    def register(function):
        if name in _PLUGINS:
            raise KeyError(f"{name} twice")
        _PLUGINS[name] = (priority, function)
        return function

    return register


def unregister(name):
    return _PLUGINS.pop(name, None) is not None


def run(**given):
    results = []
    for name, (priority, function) in sorted(_PLUGINS.items(), key=lambda i: (-i[1][0], i[0])):
        wanted = inspect.signature(function).parameters
        results.append((name, function(**{key: given[key] for key in wanted if key in given})))
    return results
""",
        """
import pytest

from m import plugin, run, unregister


@pytest.fixture(autouse=True)
def clean():
    yield
    for name in ("b", "a", "c"):
        unregister(name)


def test_in_order_of_priority_then_name():
    plugin("b")(lambda: 1)
    plugin("a")(lambda: 2)
    plugin("c", priority=5)(lambda: 3)
    assert run() == [("c", 3), ("a", 2), ("b", 1)]


def test_only_what_it_takes():
    @plugin("a")
    def add(x, y=10):
        return x + y

    assert run(x=1, z=9) == [("a", 11)]
    assert run(x=1, y=2) == [("a", 3)]
    assert add(5) == 15


def test_twice():
    plugin("a")(print)
    with pytest.raises(KeyError, match="a twice"):
        plugin("a")(print)


def test_unregister():
    plugin("a")(lambda: 1)
    assert unregister("a") is True
    assert unregister("a") is False
    assert run() == []
""",
    ),
    "calls with what the signature takes": Odd(
        """
import inspect


def bind(function, values):
    taken = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            taken.update((key, value) for key, value in values.items() if key not in taken)
        elif name in values:
            taken[name] = values[name]
        elif parameter.default is inspect.Parameter.empty:
            raise TypeError(f"{function.__name__} needs {name}")
    return function(**taken)


def describe(function):
    parts = [
        name if item.default is item.empty else f"{name}={item.default!r}"
        for name, item in inspect.signature(function).parameters.items()
    ]
    return f"{function.__name__}({', '.join(parts)})"
""",
        """
import pytest

from m import bind, describe


def area(width, height=2):
    return width * height


def everything(first, **more):
    return first, more


def test_bind():
    assert bind(area, {"width": 3}) == 6
    assert bind(area, {"width": 3, "height": 5, "depth": 9}) == 15


def test_missing():
    with pytest.raises(TypeError, match="area needs width"):
        bind(area, {"height": 1})


def test_keywords():
    assert bind(everything, {"first": 1, "b": 2}) == (1, {"b": 2})


def test_describe():
    assert describe(area) == "area(width, height=2)"
    assert describe(lambda: 0) == "<lambda>()"
""",
    ),
    "events with callbacks": Odd(
        """
class Emitter:
    def __init__(self):
        self._callbacks = {}

    def on(self, event, callback, *, once=False):
        entry = (callback, once)
        self._callbacks.setdefault(event, []).append(entry)

        def off():
            if entry in self._callbacks[event]:
                self._callbacks[event].remove(entry)

        return off

    def emit(self, event, *values):
        count = 0
        for entry in list(self._callbacks.get(event, ())):
            callback, once = entry
            if once:
                self._callbacks[event].remove(entry)
            callback(*values)
            count += 1
        return count
""",
        """
from m import Emitter


def test_called_in_order():
    seen, emitter = [], Emitter()
    emitter.on("a", lambda value: seen.append(("first", value)))
    emitter.on("a", lambda value: seen.append(("second", value)))
    assert emitter.emit("a", 5) == 2
    assert seen == [("first", 5), ("second", 5)]


def test_other_events():
    seen, emitter = [], Emitter()
    emitter.on("a", seen.append)
    assert emitter.emit("b", 1) == 0
    assert seen == []


def test_once():
    seen, emitter = [], Emitter()
    emitter.on("a", seen.append, once=True)
    assert emitter.emit("a", 1) == 1
    assert emitter.emit("a", 2) == 0
    assert seen == [1]


def test_off():
    seen, emitter = [], Emitter()
    off = emitter.on("a", seen.append)
    emitter.emit("a", 1)
    off()
    off()
    assert emitter.emit("a", 2) == 0
    assert seen == [1]


def test_added_while_emitting():
    seen, emitter = [], Emitter()
    emitter.on("a", lambda: emitter.on("a", lambda: seen.append("new")), once=True)
    assert emitter.emit("a") == 1
    assert seen == []
    assert emitter.emit("a") == 1
    assert seen == ["new"]


def test_several_values():
    seen, emitter = [], Emitter()
    emitter.on("a", lambda *values: seen.append(values))
    emitter.emit("a", 1, "x")
    assert seen == [(1, "x")]
""",
    ),
    "an order's states": Odd(
        """
import enum


class State(enum.Enum):
    NEW = "new"
    PAID = "paid"
    SENT = "sent"
    DONE = "done"
    CANCELLED = "cancelled"


_NEXT = {
    (State.NEW, "pay"): State.PAID,
    (State.NEW, "cancel"): State.CANCELLED,
    (State.PAID, "send"): State.SENT,
    (State.PAID, "cancel"): State.CANCELLED,
    (State.SENT, "receive"): State.DONE,
}


class Order:
    def __init__(self):
        self.state = State.NEW
        self.past = []

    def __getattr__(self, action):
        if action not in {name for _, name in _NEXT}:
            raise AttributeError(action)
        return lambda: self._do(action)

    def _do(self, action):
        target = _NEXT.get((self.state, action))
        if target is None:
            raise RuntimeError(f"cannot {action} while {self.state.value}")
        self.past.append(self.state.value)
        self.state = target
        return self

    @property
    def actions(self):
        return sorted(name for state, name in _NEXT if state is self.state)
""",
        """
import pytest

from m import Order, State


def test_new():
    order = Order()
    assert order.state is State.NEW
    assert order.past == []
    assert order.actions == ["cancel", "pay"]


def test_to_the_end():
    order = Order().pay().send().receive()
    assert order.state is State.DONE
    assert order.past == ["new", "paid", "sent"]
    assert order.actions == []


@pytest.mark.parametrize("steps, ok", [((), True), (("pay",), True), (("pay", "send"), False)])
def test_cancel(steps, ok):
    order = Order()
    for step in steps:
        getattr(order, step)()
    if ok:
        assert order.cancel().state is State.CANCELLED
    else:
        with pytest.raises(RuntimeError, match="cannot cancel while sent"):
            order.cancel()


def test_wrong_order():
    order = Order()
    with pytest.raises(RuntimeError, match="cannot send while new"):
        order.send()
    assert order.state is State.NEW
    assert order.past == []


def test_no_such_action():
    with pytest.raises(AttributeError, match="explode"):
        Order().explode()
""",
    ),
    "a dict with attributes": Odd(
        """
class Bag(dict):
    def __getattr__(self, name):
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(name) from None
        return Bag(value) if type(value) is dict else value

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        del self[name]

    def merged(self, other):
        result = Bag(self)
        for key, value in other.items():
            both = isinstance(value, dict) and isinstance(self.get(key), dict)
            result[key] = Bag(self[key]).merged(value) if both else value
        return result
""",
        """
import pytest

from m import Bag


def test_get():
    bag = Bag(a=1, b={"c": 2})
    assert bag.a == 1
    assert bag["a"] == 1
    assert bag.b.c == 2


def test_missing():
    with pytest.raises(AttributeError, match="nothing"):
        Bag().nothing
    assert getattr(Bag(), "x", 5) == 5


def test_set_and_delete():
    bag = Bag()
    bag.a = 3
    assert bag == {"a": 3}
    del bag.a
    assert bag == {}
    with pytest.raises(AttributeError, match="a"):
        del bag.a


def test_merged():
    bag = Bag(a=1, b={"c": 2, "d": 3})
    assert bag.merged({"b": {"d": 4}, "e": 5}) == {"a": 1, "b": {"c": 2, "d": 4}, "e": 5}
    assert bag.merged({"b": 6}) == {"a": 1, "b": 6}
    assert bag.merged({"a": {"x": 1}}).a.x == 1
    assert bag == {"a": 1, "b": {"c": 2, "d": 3}}
""",
    ),
}
