"""Text of code maps, and of the signatures of modules."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePath

from greenloop.project.code_map.index import CodeIndex, Key, build_index
from greenloop.project.code_map.modules import Definition, Module
from greenloop.project.code_map.ranking import Ranking, rank

_CHARS_PER_TOKEN = 4
_MAX_LISTED, _MAX_HEAD_CHARS, _MAX_SIGNATURES_CHARS = 4, 240, 8000
_HEADERS_PART = 0.4  # share of the map for the lines of modules


def build_code_map(texts: Mapping[str, str], wish: str, tokens: int) -> str:
    """Return a map of a project's modules without tests, the most relevant for the wish first.

    It has at most `tokens` tokens of four characters. Definitions and modules that do not fit are
    only counted.
    """
    index = build_index(texts)
    ranking = rank(index, wish)
    return "\n".join(_Writer(index, ranking, tokens * _CHARS_PER_TOKEN).write())


def list_signatures(
    texts: Mapping[str, str], paths: Collection[str], *, imported: bool = False
) -> str:
    """Return the public signatures of modules; with `imported`, those they use of other modules."""
    known = [path for path in paths if path in texts]
    index = build_index(texts if imported else {path: texts[path] for path in known})
    wanted = {key for key, item in index.definitions.items() if imported or item.is_public}
    if imported:
        near = {target for path in known for target in index.imported[path]}
        near |= {target for path in near for target in index.imported[path]}  # re-exports
        read = (keys for key, keys in index.edges.items() if key[0] in known)
        wanted &= {key for keys in read for key in keys if key[0] in near.difference(known)}
    by_path: dict[str, list[Definition]] = {}
    for key in sorted(wanted):
        by_path.setdefault(key[0], []).append(index.definitions[key])
    lines = (line for path in by_path for line in _write_signatures(path, by_path[path]))
    return "\n".join(_fit(lines, _MAX_SIGNATURES_CHARS))


def _write_signatures(path: str, found: Iterable[Definition]) -> Iterator[str]:
    yield f"{path}:"
    for item in sorted(found, key=lambda item: item.lines.start):
        yield _write_definition(item)


def _fit(lines: Iterable[str], chars: int) -> Iterator[str]:
    """Yield lines up to a number of characters, then an ellipsis if there are more."""
    for line in lines:
        chars -= len(line) + 1
        if chars < 0:
            yield "  …"
            return
        yield line


def _write_definition(item: Definition) -> str:
    """Return the line of a definition with its docstring's first line, indented by nesting."""
    indent = "  " * (1 + item.name.count("."))
    return f"{indent}{item.head[:_MAX_HEAD_CHARS]}" + (f"  # {item.doc}" if item.doc else "")


class _Writer:
    """Writer of a map: it picks module lines by rank, then definitions of these modules by rank."""

    def __init__(self, index: CodeIndex, ranking: Ranking, chars: int) -> None:
        self._index, self._ranking, self._left = index, ranking, chars
        modules = (item for item in index.modules.values() if not item.is_test)
        self._modules = sorted(modules, key=lambda item: (-ranking.modules[item.path], item.path))

    def write(self) -> Iterator[str]:
        shown = self._choose_modules()
        chosen = self._choose_definitions(shown)
        for path, head in shown.items():
            yield head
            own = self._index.modules[path].definitions
            lines = [chosen[path, item.name] for item in own if (path, item.name) in chosen]
            yield from lines
            if len(lines) < len(own):
                yield f"  … {len(own) - len(lines)} more"
        if len(shown) < len(self._modules):
            yield f"… {len(self._modules) - len(shown)} more files"

    def _choose_modules(self) -> dict[str, str]:
        """Return the lines of the modules that fit, by path; only the path if space is short."""
        limit, shown = self._left * _HEADERS_PART, dict[str, str]()
        spent = 0
        for module in self._modules:
            lines = [self._write_module(module), module.path]
            fitting = [line for line in lines if spent + len(line) + 14 <= limit]
            if not fitting:
                break
            shown[module.path] = fitting[0]
            spent += len(fitting[0]) + 14  # 14: the line that counts omitted definitions
        self._left -= spent + 24
        return shown

    def _choose_definitions(self, shown: Collection[str]) -> dict[Key, str]:
        """Return the lines of the definitions with the highest weights that fit."""
        found = [item for path in shown for item in self._index.modules[path].definitions]
        weights = self._ranking.definitions
        found.sort(key=lambda item: (-weights[item.path, item.name], item.path, item.name))
        chosen: dict[Key, str] = {}
        for item in found:
            needed = [self._index.definitions[item.path, item.name]]
            owner = (item.path, item.name.rpartition(".")[0])
            if owner in self._index.definitions and owner not in chosen:
                needed.append(self._index.definitions[owner])
            lines = {(part.path, part.name): self._write_used(part) for part in needed}
            spent = sum(len(line) + 1 for line in lines.values())
            if spent <= self._left:
                chosen |= lines
                self._left -= spent
        return chosen

    def _write_used(self, item: Definition) -> str:
        """Return a definition's line with the names of the definitions that read it."""
        readers = self._index.readers.get((item.path, item.name), set())
        names = [
            name if path == item.path else f"{path}:{name}"
            for path, name in sorted(readers)
            if name and not self._index.modules[path].is_test
        ]
        return _write_definition(item) + (f"  <- {_join(names)}" if names else "")

    def _write_module(self, module: Module) -> str:
        """Return a module's line: its path, docstring, imported modules and tests."""
        keys = [(module.path, ""), *((module.path, item.name) for item in module.definitions)]
        users = {path for key in keys for path, _ in self._index.readers.get(key, ())}
        tests = sorted(path for path in users if PurePath(path).name.startswith("test_"))
        parts = [module.path, f" — {module.doc}" if module.doc else ""]
        parts += [" (does not parse)" * (not module.parses)]
        for name, paths in (("imports", self._index.imported[module.path]), ("tests", tests)):
            parts += [f" [{name}: {_join(paths)}]" if paths else ""]
        return "".join(parts)


def _join(names: list[str]) -> str:
    more = f" +{len(names) - _MAX_LISTED}" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more
