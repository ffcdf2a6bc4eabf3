"""Rules for files and folders that are not copied into a sandbox: generated files and secrets."""

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_GENERATED_NAMES = frozenset(
    ".git .hg .svn .bzr CVS _darcs .jj __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox "
    ".hypothesis .cache .eggs .ipynb_checkpoints node_modules bower_components htmlcov .idea .vscode "
    ".greenloop .terraform .serverless .venv".split()
)
# Excluded only in the root, because packages may have these names too.
_BUILD_FOLDERS = frozenset("build dist target venv virtualenv".split())
_SECRET_FOLDERS = frozenset(".ssh .gnupg .aws .azure .kube .docker .gcloud .env".split())
_GENERATED_PATTERNS = "*.pyc *.pyo *.swp *~ .DS_Store .coverage .coverage.*".split()
_SECRET_FILES = (
    ".env .env.* .envrc *.env .netrc _netrc .pypirc .npmrc .yarnrc .git-credentials .htpasswd .pgpass "
    ".my.cnf .dockercfg .boto .s3cfg .vault-token credentials credentials.* *_credentials.* "
    "*-credentials.* client_secret*.json service-account*.json service_account*.json token.json "
    "secrets.json secrets.y*ml secrets.toml secrets.ini secrets.txt secret.* *.pem *.key *.p12 *.pfx "
    "*.jks *.keystore *.kdbx *.ovpn *.ppk *.asc *.gpg id_rsa* id_dsa* id_ecdsa* id_ed25519* "
    "*.tfstate *.tfstate.* *.tfvars"
).split()
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{20,}")
_TEST_CODE = re.compile(r"(^|[/_])(tests?|conftest)([/_].*)?\.py$")
_ENVIRONMENT_MARKERS = ("pyvenv.cfg", "conda-meta")


def is_secret_folder(name: str) -> bool:
    """Return whether a folder may hold secrets, by its name."""
    return name.lower() in _SECRET_FOLDERS


def is_excluded_folder(path: str, full_path: str) -> bool:
    """Return whether a folder is left out; `path` is relative to the root.

    It may hold secrets, be generated again where it is needed, or be a virtual environment.
    """
    name = path.rpartition("/")[2]
    is_built = path in _BUILD_FOLDERS and not os.path.exists(f"{full_path}/__init__.py")
    return (
        is_secret_folder(name)
        or name in _GENERATED_NAMES
        or is_built
        or any(os.path.exists(f"{full_path}/{mark}") for mark in _ENVIRONMENT_MARKERS)
    )


def list_modules(folder: Path, root: Path) -> Iterator[Path]:
    """Yield the Python files below a folder of a project, without hidden and excluded folders."""
    top = os.path.realpath(root)
    for place, folders, names in os.walk(folder):
        paths = {name: os.path.join(place, name) for name in sorted(folders) if name[0] != "."}
        places = {name: os.path.relpath(os.path.realpath(paths[name]), top) for name in paths}
        folders[:] = [i for i in paths if not is_excluded_folder(places[i], paths[i])]
        yield from (Path(place, name) for name in sorted(names) if name.endswith(".py"))


def is_secret_file(path: str) -> bool:
    """Return whether a file may hold secrets, by its name; code does not, as in credentials.py."""
    name = path.rpartition("/")[2].lower()
    return not name.endswith(".py") and _matches(name, _SECRET_FILES)


def is_excluded_file(path: str) -> bool:
    """Return whether a file may hold secrets or is generated again, by its name."""
    return is_secret_file(path) or _matches(path.rpartition("/")[2].lower(), _GENERATED_PATTERNS)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def holds_private_key(path: str, content: bytes) -> bool:
    """Return whether a file holds a private key; those in the code of tests do not count."""
    return bool(_PRIVATE_KEY.search(content)) and not _TEST_CODE.search(path)
