"""Rules for files and folders that are not copied into a sandbox: generated files and secrets."""

import fnmatch
import os
import re
from collections.abc import Iterator
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


def explain_folder_exclusion(path: str, full_path: str) -> str:
    """Return why a folder is excluded, or ''; `path` is relative to the root."""
    name = path.rpartition("/")[2]
    if name.lower() in _SECRET_FOLDERS:
        return "it may hold secrets"
    if name in _GENERATED_NAMES or (
        path in _BUILD_FOLDERS and not os.path.exists(f"{full_path}/__init__.py")
    ):
        return "it is generated again where it is needed"
    if any(os.path.exists(f"{full_path}/{mark}") for mark in _ENVIRONMENT_MARKERS):
        return "it is a virtual environment"
    return ""


def list_modules(folder: Path, root: Path) -> Iterator[Path]:
    """Yield the Python files below a folder of a project, without hidden and excluded folders."""
    top = os.path.realpath(root)
    for place, folders, names in os.walk(folder):
        paths = {name: os.path.join(place, name) for name in sorted(folders) if name[0] != "."}
        places = {name: os.path.relpath(os.path.realpath(paths[name]), top) for name in paths}
        folders[:] = [i for i in paths if not explain_folder_exclusion(places[i], paths[i])]
        yield from (Path(place, name) for name in sorted(names) if name.endswith(".py"))


def explain_file_exclusion(path: str) -> str:
    """Return why a file is excluded by its name, or ''."""
    name = path.rpartition("/")[2].lower()
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in _GENERATED_PATTERNS):
        return "it is generated again where it is needed"
    if name.endswith(".py"):  # code, even if it is called credentials.py
        return ""
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in _SECRET_FILES):
        return "it may hold secrets"
    return ""


def explain_content_exclusion(path: str, content: bytes) -> str:
    """Return why a file is excluded by its content, or ''; keys in the code of tests are kept."""
    is_key = _PRIVATE_KEY.search(content) and not _TEST_CODE.search(path)
    return "it holds a private key" if is_key else ""
