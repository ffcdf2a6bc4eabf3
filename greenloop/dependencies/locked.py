"""The versions of packages that a project has locked."""

from collections import Counter
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop.files import read_or_empty
from greenloop.toml import read_table

_LOCK_FILES = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")


def read_locked(root: Path) -> tuple[str, ...]:
    """Return `name==version` for each package that a lock file has in one version only."""
    for name in _LOCK_FILES:
        values = read_table(read_or_empty(root / name))
        packages = values.get("package") or values.get("packages")
        items = [item for item in packages or () if isinstance(item, dict)]
        found = {(canonicalize_name(str(item.get("name"))), item.get("version")) for item in items}
        count = Counter(package for package, _ in found)
        single = [(package, version) for package, version in found if count[package] == 1]
        if single:
            return tuple(sorted(f"{package}=={version}" for package, version in single if version))
    return ()
