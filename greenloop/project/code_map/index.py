"""Index of a project: import resolution, and the reference graph of its definitions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from greenloop.project.code_map.modules import Definition, Import, Module, parse_module
from greenloop.testsuite.module_under_test import count_outer_folders

_MAX_REEXPORTS = 4  # modules between an import and the definition
_MAX_OWNERS = 3  # an attribute with more definitions is too common to be a reference
Key = tuple[str, str]  # path and name of a definition; '' for the module itself


@dataclass(frozen=True)
class CodeIndex:
    """Modules of a project by path, with their definitions and references."""

    modules: Mapping[str, Module]

    @cached_property
    def definitions(self) -> dict[Key, Definition]:
        return {
            (module.path, item.name): item
            for module in self.modules.values()
            for item in module.definitions
        }

    @cached_property
    def _paths(self) -> dict[str, str]:
        """Paths by dotted name, from each folder that is no package and so may be on `sys.path`."""
        found: dict[str, str] = {}
        for path in sorted(self.modules, key=lambda item: (item.count("/"), item)):
            parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
            for at in range(len(parts)):
                # The project's own folder may be on `sys.path` even if it is a package.
                if not at or "/".join([*parts[:at], "__init__.py"]) not in self.modules:
                    found.setdefault(".".join(parts[at:]), path)
        return found

    def name_module(self, path: str) -> str:
        """Return the dotted name by which a module is imported."""
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        return ".".join(parts[count_outer_folders(parts, self.modules) :])

    @cached_property
    def _attributes(self) -> dict[str, list[Key]]:
        owners: dict[str, list[Key]] = {}
        for key in self.definitions:
            _, dot, name = key[1].rpartition(".")
            if dot:
                owners.setdefault(f".{name}", []).append(key)
        return owners

    def find_module(self, path: str, item: Import) -> str | None:
        """Return the path of the module from which a file imports, None outside of the project."""
        if not item.level:
            return self._paths.get(item.module)
        folder = path.split("/")[: -item.level]
        base = "/".join([*folder, *filter(None, item.module.split("."))])
        for candidate in (f"{base}.py", f"{base}/__init__.py", "__init__.py" if not base else ""):
            if candidate in self.modules:
                return candidate
        return None

    def find_target(self, path: str, item: Import) -> Key | None:
        """Return the definition or module that an import refers to, None outside of the project."""
        target = self.find_module(path, item)
        if item.name in ("", "*") or (target and (target, item.name) in self.definitions):
            return (target, item.name.strip("*")) if target else None
        inner = f"{item.module}.{item.name}" if item.module else item.name
        whole = self.find_module(path, Import(inner, item.level, "", ""))
        return (whole, "") if whole else (target, item.name) if target else None

    @cached_property
    def scopes(self) -> dict[str, dict[str, Key]]:
        """The project's definition or module that each top-level name of a module refers to."""
        return {path: dict(self._list_names(path)) for path in self.modules}

    def _list_names(self, path: str) -> Iterator[tuple[str, Key]]:
        for item in self.modules[path].imports:
            target = self.find_target(path, item)
            if target and item.name == "*":
                for definition in self.modules[target[0]].definitions:
                    yield definition.name, (target[0], definition.name)
            elif target:
                yield item.alias, target
        for definition in self.modules[path].definitions:
            yield definition.name, (path, definition.name)

    def resolve(self, key: Key) -> Key:
        """Return the definition behind a name that modules re-export."""
        for _ in range(_MAX_REEXPORTS):
            path, name = key
            if not name or key in self.definitions:
                break
            key = self.scopes.get(path, {}).get(name, (path, ""))
        return key

    def find_read(self, path: str, reads: frozenset[str]) -> set[Key]:
        """Return the definitions and modules that names in a file refer to."""
        scope = self.scopes[path]
        found: set[Key] = set()
        for name in reads:
            owner, dot, attribute = name.rpartition(".")
            if name in scope:
                found.add(self.resolve(scope[name]))
            elif dot and owner in scope:
                base = self.resolve(scope[owner])
                inner = f"{base[1]}.{attribute}" if base[1] else attribute
                found.add(self.resolve((base[0], inner)))
            elif dot and not owner and len(self._attributes.get(name, ())) <= _MAX_OWNERS:
                found.update(self._attributes.get(name, ()))
        return found

    @cached_property
    def imported(self) -> dict[str, list[str]]:
        """The paths of the modules that each module imports."""
        return {
            path: sorted(
                {
                    target[0]
                    for item in module.imports
                    if (target := self.find_target(path, item)) and target[0] != path
                }
            )
            for path, module in self.modules.items()
        }

    @cached_property
    def edges(self) -> dict[Key, set[Key]]:
        """The definitions and modules that each definition, and each module's top level, reads."""
        found: dict[Key, set[Key]] = {}
        for path, module in self.modules.items():
            for item in module.definitions:
                found[path, item.name] = self.find_read(path, item.reads) - {(path, item.name)}
            targets = {(target, "") for target in self.imported[path]}
            found[path, ""] = targets | self.find_read(path, module.reads)
        return found

    @cached_property
    def readers(self) -> dict[Key, set[Key]]:
        """The definitions and modules that read each definition and module."""
        found: dict[Key, set[Key]] = {}
        for reader, targets in self.edges.items():
            for target in targets:
                found.setdefault(target, set()).add(reader)
        return found


def build_index(texts: Mapping[str, str]) -> CodeIndex:
    """Return the index of a project's Python files."""
    return CodeIndex({path: parse_module(path, texts[path]) for path in sorted(texts)})
