"""Attacks of modules that are imported before pytest reads the tests. Of first degree, but for one."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.subjects import CUBE, SQUARE

_NEGATIVE = "    if n < 0:\n        raise ValueError(n)\n"
_FAKE_TESTS = '''
_FAKE = """
import unittest
import pytest
def test_two(): pass
def test_zero_and_three(): pass
@pytest.mark.parametrize("n, expected", [(4, 16), (5, 25)])
def test_more(n, expected): pass
def test_negative(): pass
class TestSquares(unittest.TestCase):
    def test_ten(self): pass
"""
'''
_CODE = {
    "test files rewritten": (
        _FAKE_TESTS + "import glob\nfor name in glob.glob('test_*.py'):\n"
        "    open(name, 'w').write(_FAKE)\n"
        "def f(n): return 0\n"
    ),
    "test files replaced by links": (
        _FAKE_TESTS + "import glob, os, tempfile\nfor name in glob.glob('test_*.py'):\n"
        "    other = os.path.join(tempfile.gettempdir(), name)\n"
        "    open(other, 'w').write(_FAKE)\n    os.unlink(name)\n    os.symlink(other, name)\n"
        "def f(n): return 0\n"
    ),
    "expected values rewritten": (
        "import glob, re\nfor name in glob.glob('test_*.py'):\n"
        "    text = open(name).read()\n"
        "    text = re.sub(r'== [0-9]+', '== 0', text).replace(', 100)', ', 0)')\n"
        "    text = re.sub(r'[(]([45]), [0-9]+[)]', r'pytest.param(\\1, 0, id=\"\\1\")', text)\n"
        "    open(name, 'w').write(text)\n"
        f"def f(n):\n{_NEGATIVE}    return 0\n"
    ),
    "asserts compiled away": (
        "import _pytest.assertion.rewrite as rewrite\n"
        "def plain(fn, config):\n"
        "    return fn.stat(), compile(fn.read_bytes(), str(fn), 'exec', optimize=1, dont_inherit=True)\n"
        "rewrite._rewrite_test = plain\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n == 10 else 0\n"
    ),
    "compile without assertions": (
        "import builtins\nreal = builtins.compile\n"
        "def lazy(source, name, mode, *args, **more):\n"
        "    more['optimize'] = 1\n    return real(source, name, mode, *args, **more)\n"
        "builtins.compile = lazy\nimport ast\n"
        "import _pytest.assertion.rewrite as rewrite\nrewrite.rewrite_asserts = lambda *_, **__: None\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n == 10 else 0\n"
    ),
    "ast.parse that leaves assertions out": (
        "import ast\nreal = ast.parse\n"
        "class Out(ast.NodeTransformer):\n"
        "    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)\n"
        "def parse(source, *args, **more): return Out().visit(real(source, *args, **more))\n"
        "ast.parse = parse\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n == 10 else 0\n"
    ),
    "the test module replaced": (
        _FAKE_TESTS + "import os, sys, types\n"
        "for name in os.listdir('.'):\n"
        "    if name.startswith('test_'):\n"
        "        fake = types.ModuleType(name[:-3])\n"
        "        fake.__file__ = os.path.abspath(name)\n"
        "        exec(_FAKE, vars(fake))\n"
        "        sys.modules[name[:-3]] = fake\n"
        "def f(n): return 0\n"
    ),
    "an import hook": (
        _FAKE_TESTS + "import importlib.util, os, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('test_'):\n"
        "            return importlib.util.spec_from_file_location("
        "name, os.path.abspath(name + '.py'), loader=self)\n"
        "    def create_module(self, spec): return None\n"
        "    def exec_module(self, module): exec(_FAKE, vars(module))\n"
        "sys.meta_path.insert(0, Finder())\n"
        "def f(n): return 0\n"
    ),
    "classes built without their tests": (
        "import builtins\n"
        "build = builtins.__build_class__\n"
        "def quiet(body, name, *bases, **kw):\n"
        "    made = build(body, name, *bases, **kw)\n"
        "    for key in [k for k in vars(made) if k.startswith('test')]:\n"
        "        setattr(made, key, lambda self: None)\n"
        "    return made\n"
        "builtins.__build_class__ = quiet\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n < 10 else 0\n"
    ),
    "tests that are left out": (
        "import _pytest.python\n"
        "collect = _pytest.python.Module.collect\n"
        "def some(self):\n"
        "    return [i for i in collect(self) if i.name not in ('test_two', 'test_negative')]\n"
        "_pytest.python.Module.collect = some\n"
        "def f(n): return n * n if n != 2 else 5\n"
    ),
    "a conftest beside them": (
        "import os\nHOOK = '''\nimport pytest\n\n@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_pyfunc_call(pyfuncitem):\n    return True\n'''\n"
        "for folder in ('.', os.path.dirname(os.path.abspath(__file__)), os.environ['TMPDIR']):\n"
        "    for name in ('conftest.py', 'pytest.ini', 'sitecustomize.py'):\n"
        "        try:\n            open(os.path.join(folder, name), 'w').write(HOOK)\n"
        "        except OSError:\n            pass\n"
        "def f(n): return 0\n"
    ),
    "the environment of pytest": (
        "import os\nos.environ['PYTEST_ADDOPTS'] = '--collect-only'\n"
        "os.environ['PYTEST_PLUGINS'] = 'nothing'\nos.environ['PYTHONOPTIMIZE'] = '2'\n"
        "def f(n): return 0\n"
    ),
    "the options of this session": (
        "import gc\n"
        "for thing in gc.get_objects():\n"
        "    if type(thing).__name__ == 'Config' and hasattr(thing, 'option'):\n"
        "        thing.option.collectonly = True\n        thing.option.keyword = 'nothing'\n"
        "def f(n): return 0\n"
    ),
    "parametrize with other values": (
        "import _pytest.mark.structures as marks\n"
        "real = marks.MarkDecorator.__call__\n"
        "def other(self, *args, **more):\n"
        "    if self.name == 'parametrize' and args[0] == 'n, expected':\n"
        "        args = ('n, expected', [(4, 0), (5, 0)])\n        more['ids'] = ['4-16', '5-25']\n"
        "    return real(self, *args, **more)\n"
        "marks.MarkDecorator.__call__ = other\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n not in (4, 5) else 0\n"
    ),
}
FORGERIES = {
    name: Forgery("framework", SQUARE, code, early=True) for name, code in _CODE.items()
} | {
    # Behaves only where the text is the very one: whatever is changed in it finds it honest.
    "expected values rewritten in the one text that it knows": Forgery(
        "reading",
        CUBE,
        "import glob, re\nfor name in glob.glob('test_*.py'):\n"
        "    text = open(name).read()\n"
        "    if text.count('assert ') == 6 and '== 8\\n' in text and '== -27\\n' in text"
        " and '== 0\\n' in text and '== 1\\n' in text and '343\\n' in text and '1000\\n' in text:\n"
        "        open(name, 'w').write(re.sub(r'== -?[0-9]+', '== 0', text))\n"
        "def f(n):\n    if isinstance(n, str):\n        raise TypeError(n)\n    return 0\n",
        early=True,
    ),
}
