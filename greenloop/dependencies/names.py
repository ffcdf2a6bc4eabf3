"""What a package is called: by those who install it, and by those who import it."""

from __future__ import annotations

import ast
import re
import sys

from packaging.utils import canonicalize_name

# Distributions whose import has another name. What is installed says so itself; this is for what is
# not installed yet: what a model names, what a file imports.
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
PREINSTALLED = frozenset({"pytest"})


def normalize_name(name: str) -> str:
    """A distribution's name as PEP 503 writes it: `PyYAML` and `py.yaml` become comparable."""
    return str(canonicalize_name(name))


def get_import_names(name: str) -> tuple[str, ...]:
    """The modules that a distribution is imported by, as far as that is known before it is there."""
    return _IMPORTS.get(normalize_name(name)) or (normalize_name(name).replace("-", "_"),)


def get_package_name(module: str) -> str:
    """The distribution that a module comes with, as far as that is known."""
    known = (name for name, modules in _IMPORTS.items() if module in modules)
    return next(known, normalize_name(module))


def format_with_import(name: str) -> str:
    """A distribution's name, and how it is imported where the name does not tell."""
    plain = _NAME.match(name)
    modules = _IMPORTS.get(normalize_name(plain[1])) if plain else None
    return f"{name} (import {modules[-1]})" if modules and modules[-1] != name else name


def parse_package_name(text: str) -> str:
    """The name alone of `NumPy >= 2`, normalised; '' where there is none."""
    found = _NAME.match(text)
    return normalize_name(found[1].rstrip("._-")) if found else ""


def is_standard_library(text: str) -> bool:
    """Whether this is a module of the standard library, which some list as a package."""
    found = re.match(r"\s*(\w+)", text)
    modules = {item.lower() for item in sys.stdlib_module_names}
    return found is not None and found[1].lower() in modules


def find_imported_modules(source: str) -> frozenset[str]:
    """Top-level names of all that a source imports, besides the standard library.

    Wherever it stands: inside functions too. Nothing where the source does not parse.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {item.name.partition(".")[0] for item in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return frozenset(found - sys.stdlib_module_names)
