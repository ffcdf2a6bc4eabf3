"""Distribution names and import names of packages."""

import ast
import re
import sys
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from greenloop.syntax.parse import cache_by_source, parse_or_empty

# Distributions with another import name, for packages that are not installed: those that a model
# names or a file imports.
_IMPORTS = {
    "attrs": ("attr", "attrs"),
    "beautifulsoup4": ("bs4",),
    "levenshtein": ("Levenshtein",),
    "markdown-it-py": ("markdown_it",),
    "opencv-python": ("cv2",),
    "opencv-python-headless": ("cv2",),
    "pillow": ("PIL",),
    "protobuf": ("google",),
    "pycryptodome": ("Crypto",),
    "pyjwt": ("jwt",),
    "pymupdf": ("fitz", "pymupdf"),
    "python-dateutil": ("dateutil",),
    "python-docx": ("docx",),
    "python-dotenv": ("dotenv",),
    "python-pptx": ("pptx",),
    "python-slugify": ("slugify",),
    "pyyaml": ("yaml",),
    "pyzmq": ("zmq",),
    "ruamel-yaml": ("ruamel",),
    "scikit-image": ("skimage",),
    "scikit-learn": ("sklearn",),
}
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_PLUGINS_OF_MARKS = {"asyncio": "pytest_asyncio", "anyio": "anyio"}
PREINSTALLED = frozenset({"pytest"})


def get_import_names(name: str) -> tuple[str, ...]:
    """Return the import names of a distribution, as far as known before it is installed."""
    return _IMPORTS.get(canonicalize_name(name)) or (canonicalize_name(name).replace("-", "_"),)


def get_package_name(module: str) -> str:
    """Return the distribution that provides a module, as far as known."""
    known = (name for name, modules in _IMPORTS.items() if module in modules)
    return next(known, canonicalize_name(module))


def format_with_import(name: str) -> str:
    """Return a distribution's name, with its import name where that differs."""
    plain = _NAME.match(name)
    modules = _IMPORTS.get(canonicalize_name(plain[1])) if plain else None
    return f"{name} (import {modules[-1]})" if modules and modules[-1] != name else name


def parse_package_name(text: str) -> str:
    """Return the normalized name in `NumPy >= 2`; '' where there is none."""
    found = _NAME.match(text)
    return canonicalize_name(found[1].rstrip("._-")) if found else ""


def is_standard_library(text: str) -> bool:
    """Return whether a listed package is a module of the standard library."""
    found = re.match(r"\s*(\w+)", text)
    modules = {item.lower() for item in sys.stdlib_module_names}
    return found is not None and found[1].lower() in modules


@cache_by_source
def find_imported_modules(source: str) -> frozenset[str]:
    """Return the top-level names of a source's third-party imports, also of those in functions.

    A mark of pytest that only a plugin knows counts as an import of the plugin. Nothing where the
    source does not parse.
    """
    tree = parse_or_empty(source)
    imported = frozenset(iter_imported_modules(tree)) - sys.stdlib_module_names
    return imported.union(_iter_plugins_of_marks(tree))


def _iter_plugins_of_marks(tree: ast.Module) -> Iterator[str]:
    for node in (item for item in ast.walk(tree) if isinstance(item, ast.Attribute)):
        plugin = _PLUGINS_OF_MARKS.get(node.attr)
        if plugin and ast.unparse(node.value).rpartition(".")[2] == "mark":
            yield plugin


def iter_imported_modules(tree: ast.Module) -> Iterator[str]:
    """Yield the top-level name of each absolute import, in tree order."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (item.name.partition(".")[0] for item in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]
