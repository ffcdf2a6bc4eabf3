"""Source folders outside of an environment from which its packages are imported."""

import ast
import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from greenloop.errors import InputError
from greenloop.project.environment.interpreter import Environment
from greenloop.project.exclusions import is_secret_file, is_secret_folder

_MAPPING = re.compile(r"^MAPPING\b[^=\n]*=\s*(\{.*?\})\s*$", re.MULTILINE)
_MAX_BYTES = 1 << 20
SOURCE_FOLDERS = ("src", "lib")


def list_named_folders(environment: Environment) -> list[str]:
    """Return the folders in `.pth` files and in the finders of editable installations."""
    found = [
        path if os.path.isdir(path) else os.path.dirname(path)
        for site in environment.site_folders
        for file in sorted([*site.glob("*.pth"), *site.glob("__editable__*.py")])
        for path in _iter_named_paths(file)
        if os.path.exists(path)
    ]
    return list(dict.fromkeys(os.path.normpath(path) for path in found))


def list_source_folders(environment: Environment) -> list[str]:
    """Return the folders that packages were installed from, as recorded by installers (PEP 610)."""
    found = []
    for site in environment.site_folders:
        for file in sorted(site.glob("*.dist-info/direct_url.json")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                url = urlsplit(json.loads(file.read_bytes())["url"])
                found += [unquote(url.path)] if url.scheme == "file" else []
    return found


def list_other_folders(environment: Environment, root: str) -> list[str]:
    """Return the named folders outside of environment and project, which have to be mounted.

    Raises:
        InputError: one of the folders may hold secrets.
    """
    inner = tuple(f"{item}/" for item in (root, environment.prefix, environment.base))
    others = [path for path in list_named_folders(environment) if not f"{path}/".startswith(inner)]
    for path in others:
        if may_hold_secrets(path):
            raise InputError(
                f"{environment.prefix} imports packages from {path}, which may hold secrets and is "
                "not mounted; install that package without -e"
            )
    return others


def list_copied_sources(environment: Environment, root: str) -> list[str]:
    """Return the source folders with packages that are installed without -e, as copies.

    Tests would import the copies instead. The folders are in the root or beside the environment. A
    folder is left out if an installed package has compiled modules, which the sources may lack.
    """
    found = []
    beside = os.path.dirname(environment.prefix)
    places = (root, beside) if beside.startswith(f"{root}/") else (root,)
    for folder in (f"{place}/{name}" for place in places for name in SOURCE_FOLDERS):
        names = {path.parent.name for path in Path(folder).glob("*/__init__.py")}
        installed = [site / name for site in environment.site_folders for name in names]
        copies = [path for path in installed if path.is_dir() and not path.is_symlink()]
        if copies and not any(next(path.rglob("*.so"), None) for path in copies):
            found.append(folder)
    return found


def may_hold_secrets(path: str) -> bool:
    """Return whether a path is the home folder, above it, or in a folder such as `.ssh`."""
    home = f"{Path.home()}/"
    is_above = home.startswith(path.rstrip("/") + "/")
    return is_above or any(map(is_secret_folder, Path(path).parts))


def list_private_entries(folder: str) -> Iterator[str]:
    """Yield the repositories, and the files and folders that may hold secrets, in a source folder.

    Nothing is private in a folder of installed packages, such as a certificate.
    """
    if {"site-packages", "dist-packages"}.intersection(folder.split("/")):
        return
    for above, names, files in os.walk(folder):
        private = [name for name in names if name == ".git" or is_secret_folder(name)]
        names[:] = [n for n in names if n not in (*private, "site-packages")]
        private += filter(is_secret_file, files)
        yield from (f"{above}/{name}" for name in private)


def _iter_named_paths(file: Path) -> Iterator[str]:
    try:
        text = file.read_bytes()[:_MAX_BYTES].decode("utf-8", "replace")
    except OSError:
        return
    if file.suffix == ".pth":
        lines = (line.strip() for line in text.splitlines())
        yield from (line for line in lines if line.startswith("/"))
    elif found := _MAPPING.search(text):
        try:
            mapping = ast.literal_eval(found[1])
        except (ValueError, SyntaxError, RecursionError):
            return
        if isinstance(mapping, dict):
            yield from (path for path in mapping.values() if isinstance(path, str))
