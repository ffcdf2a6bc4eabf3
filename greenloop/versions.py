"""Versions of installed distributions, and the command that installs greenloop again."""

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import Any
from urllib.parse import unquote, urlsplit

SMALL = "greenloop-check"  # the distribution for the commands that call no model
_SMALL_FOLDER = "/distributions/check"  # its folder in the repository


def get_installed_version(name: str) -> str | None:
    """Return a distribution's version, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def greenloop_version() -> str:
    """Return the version of greenloop, or of its distribution without models."""
    return get_installed_version("greenloop") or get_installed_version(SMALL) or "not installed"


def is_small() -> bool:
    """Return whether only the distribution without models is installed."""
    return not get_installed_version("greenloop") and bool(get_installed_version(SMALL))


def is_from_repository() -> bool:
    """Return whether greenloop was installed from a repository's address."""
    return "vcs_info" in _read_origin()


def format_install_command(extra: str = "") -> str:
    """Return the command that installs greenloop, with an extra, from its original source.

    The bare name is used only after installation from an index: another index may have another
    package of this name.
    """
    origin, extras = _read_origin(), f"[{extra}]" if extra else ""
    url = str(origin.get("url", ""))
    if not url:
        return f"pip install {shlex.quote(f'greenloop{extras}')}"
    if "dir_info" in origin:
        folder = unquote(urlsplit(url).path).removesuffix(_SMALL_FOLDER)
        option = "-e " * bool(origin["dir_info"].get("editable"))
        return f"pip install {option}{shlex.quote(f'{folder}{extras}')}"
    if vcs := origin.get("vcs_info"):
        revision = vcs.get("requested_revision") or vcs.get("commit_id", "")
        url = f"{vcs.get('vcs', 'git')}+{url}" + (f"@{revision}" if revision else "")
    return f"pip install {shlex.quote(f'greenloop{extras} @ {url}')}"


def _read_origin() -> dict[str, Any]:
    """Return what pip wrote about the source of the installation (PEP 610); {} for an index."""
    for name in ("greenloop", SMALL):
        try:
            text = distribution(name).read_text("direct_url.json")
        except PackageNotFoundError:
            continue
        try:
            found = json.loads(text or "{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
    return {}
