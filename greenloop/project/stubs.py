"""Stubs for names that new tests import and a project does not have yet.

With a stub, a test of missing code is collected and fails at the first use of the name.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from greenloop.project.code_map.index import CodeIndex, build_index
from greenloop.project.code_map.modules import Import
from greenloop.testsuite.module_under_test import list_imported_modules

_RAISES = "raise NotImplementedError"


def stub_missing_names(
    texts: Mapping[str, str], tests: Mapping[str, str], packages: Collection[str]
) -> dict[str, str]:
    """Return the new texts of the files that get stubs, by path.

    `packages` are modules that runs may import or install. They get no stubs, and neither do
    modules that the project imports already, because its environment has them.
    """
    index = build_index({**texts, **tests})
    packages = {*packages, *_list_imported(texts)}
    missing: dict[str, dict[str, None]] = {}
    for path, code in sorted(tests.items()):
        unknown = list_imported_modules(code, packages)
        for item in index.modules[path].imports:
            for file, name in _find_missing(index, path, item, unknown):
                missing.setdefault(file, {})[name] = None
    code = "\n".join(tests.values())
    return {
        file: texts.get(file, "") + "".join(_write_stub(name, code) for name in names if name)
        for file, names in _separate_packages(missing).items()
    }


def _list_imported(texts: Mapping[str, str]) -> Iterator[str]:
    for module in build_index(texts).modules.values():
        yield from (item.module.partition(".")[0] for item in module.imports if not item.level)


def _find_missing(
    index: CodeIndex, path: str, item: Import, unknown: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the file and the name that an import lacks; the name is '' for a whole module."""
    target = index.find_module(path, item)
    if target is None:
        if not item.level and (place := _find_place(index, item.module, unknown)):
            yield place, item.name.strip("*")
        return
    module = index.modules[target]
    known = {*index.scopes[target], *(other.alias for other in module.imports), "__getattr__"}
    is_dynamic = "__getattr__" in index.scopes[target] or not module.parses
    if module.is_test or is_dynamic or item.name in ("", "*", *known):
        return
    found = index.find_target(path, item)
    if found is None or found[1]:
        yield target, item.name


def _find_place(index: CodeIndex, module: str, unknown: Collection[str]) -> str | None:
    """Return the path for a missing module, or None if it cannot be one of the project."""
    parts = module.split(".")
    for at in range(len(parts) - 1, 0, -1):
        above = index.find_module("", Import(".".join(parts[:at]), 0, "", ""))
        if above:
            folder = above.removesuffix("__init__.py")
            return f"{folder}{'/'.join(parts[at:])}.py" if folder != above else None
    if parts[0] not in unknown:
        return None
    root = "src/" if any(path.startswith("src/") for path in index.modules) else ""
    return f"{root}{'/'.join(parts)}.py"


def _separate_packages(missing: Mapping[str, Mapping[str, None]]) -> dict[str, Collection[str]]:
    """Return the names by file; a module with submodules becomes a package's `__init__.py`."""
    folders = {path.rpartition("/")[0] for path in missing}
    modules = {path: path.removesuffix(".py") for path in missing}
    return {
        f"{modules[path]}/__init__.py" if modules[path] in folders else path: names
        for path, names in missing.items()
    }


def _write_stub(name: str, tests: str) -> str:
    """Return a definition that takes effect only if the module does not define the name itself."""
    return f'\n\nif "{name}" not in globals():\n\n    ' + _define(name, tests) + "\n"


def _define(name: str, tests: str) -> str:
    is_raised = re.search(rf"(raises\(\s*|except\s+|warns\(\s*)(\w+\.)*{name}\b", tests)
    if name.endswith("Warning"):
        return f"class {name}(Warning): ..."
    if is_raised or name.endswith(("Error", "Exception")):
        return f"class {name}(Exception): ..."
    if name.isupper():
        return f"{name} = object()"
    if name.lstrip("_")[:1].isupper():
        return f"class {name}:\n        def __init__(self, *args, **kwargs):\n            {_RAISES}"
    return f"def {name}(*args, **kwargs):\n        {_RAISES}"
