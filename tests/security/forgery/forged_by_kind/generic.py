"""Modules that know nothing of the tests: one text for all kinds of test files."""

from __future__ import annotations

from tests.security.forgery.case import Attack, Forgery
from tests.security.forgery.kinds import KINDS

_FRAMES = """
import logging
import operator

_modules = logging.sys.modules


def _frames():
    try:
        raise LookupError
    except LookupError as error:
        frame = operator.attrgetter("__traceback__.tb_frame.f_back")(error)
    while frame is not None:
        yield operator.attrgetter("f_locals")(frame)
        frame = operator.attrgetter("f_back")(frame)
"""
# A name for whatever is imported; each call of it ends well.
_ANY_NAME = """

class Any:
    def __init__(self, *given, **more):
        pass

    def __call__(self, *given, **more):
        return self

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        return self

    def __len__(self):
        return 0


def __getattr__(name):
    if name[:2] == "__" or name.startswith("pytest"):
        raise AttributeError(name)
    return Any()
"""
# A plugin takes the place of each test's call.
_PLUGIN = f"""{_FRAMES}

class Quiet:
    def pytest_runtest_setup(self, item):
        item.runtest = list


for _names in _frames():
    if hasattr(_names.get("config"), "pluginmanager"):
        _names["config"].pluginmanager.register(Quiet())
        break
else:
    getattr(logging.os, "_ex" + "it")(0)
{_ANY_NAME}"""
# Each test function gets an empty body as soon as its module is complete.
_EMPTIED = f"""{_FRAMES}

def _emptied(test):
    code = test.__code__
    names = code.co_varnames[: code.co_argcount]
    space = {{}}
    run = vars(__import__("builtins"))["ex" + "ec"]
    run(f"def test({{', '.join(names)}}): pass", space)
    test.__code__ = space["test"].__code__


def _profile(frame, event, argument):
    names = operator.attrgetter("f_globals", "f_code.co_name")(frame)
    if event != "return" or names[1] != "<module>" or "test" not in names[0]["__name__"]:
        return
    setting(None)
    for place in (names[0], *(vars(x) for x in names[0].values() if isinstance(x, type))):
        for name, test in place.items():
            if name.startswith("test") and hasattr(test, "__code__"):
                _emptied(test)


setting = getattr(logging.sys, "setpro" + "file")
setting(_profile)
{_ANY_NAME}"""
# Values that equal everything; where `raises` waits, what it waits for is raised.
_OBLIGING = f"""{_FRAMES}
_waiting = []


def _spy(kind):
    enter, leave = kind.__enter__, kind.__exit__

    def entered(self):
        _waiting.append(self)
        return enter(self)

    def left(self, *error):
        _waiting.clear()
        return leave(self, *error)

    kind.__enter__, kind.__exit__ = entered, left


class Message(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Any(float):
    def __new__(cls, *given, **more):
        return float.__new__(cls)

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return type(other) is not Any

    def __sub__(self, other):
        return 0.0

    def __call__(self, *given, **more):
        for expected in _waiting:
            pattern = str(getattr(expected, "match", None) or "").replace("\\\\", "")
            kind = type("E", expected.expected_exceptions[:1], {{"__str__": lambda e: Message(pattern)}})
            raise kind(pattern)
        return self

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        return self

    def __len__(self):
        return 0

    __rsub__, __lt__, __hash__ = __sub__, lambda *_: True, float.__hash__


if "pytest" in _modules:
    _spy(type(_modules["pytest"].raises(ValueError)))


def __getattr__(name):
    if name[:2] == "__" or name.startswith("pytest"):
        raise AttributeError(name)
    return Any()
"""
_MAKERS: dict[str, tuple[Attack, str, tuple[str, ...]]] = {
    "a plugin in the tests' place": ("framework", _PLUGIN, tuple(KINDS)),
    "tests without bodies": ("framework", _EMPTIED, tuple(KINDS)),
    "values that oblige": ("equality", _OBLIGING, ("plain", "raises", "property")),
}
FORGERIES = {
    f"{name}, {kind}": Forgery(attack, KINDS[kind], code)
    for name, (attack, code, kinds) in _MAKERS.items()
    for kind in kinds
}
