"""A real Ray cluster of two nodes on this machine, heard by nobody else; and the command as users start it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.conftest import KEY, run
from tests.support.openai_server import OpenAIServer

__all__ = ["run"]

_NODE = {
    "num_cpus": 2,
    "object_store_memory": 80 << 20,
    "include_dashboard": False,
}
_HEAD, _SECOND = "127.0.0.1", "127.0.0.2"  # with one address for both, Ray mixes them up
_SURROUNDINGS = {
    "GREENLOOP_MUTANTS": "0",
    "GREENLOOP_HARDENING_ROUNDS": "0",
    "GREENLOOP_PEER": "0",
    "GREENLOOP_MODEL_BACKOFF": "0",
    "OPENAI_API_KEY": KEY,
    # Else Ray takes 127.0.0.1 for this machine's address in its network, where nobody listens.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


def start_batch(server: OpenAIServer, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "greenloop", "batch", *arguments, "--engine", "ray"]
    return subprocess.Popen(
        command,
        env={**os.environ, **_SURROUNDINGS, "OPENAI_BASE_URL": server.url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@dataclass
class TwoNodes:
    """`folder` has Ray's own logs."""

    cluster: Any
    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def with_second(self) -> Any:
        """The node beside the head, started where it is not there (any more)."""
        others = [item for item in self.cluster.list_all_nodes() if not item.head]
        return others[0] if others else self.cluster.add_node(**_NODE, node_ip_address=_SECOND)

    def kill(self, node: Any) -> None:
        """As if its machine was switched off."""
        self.cluster.remove_node(node, allow_graceful=False)

    def start(self, server: OpenAIServer, *arguments: str) -> subprocess.Popen[str]:
        """`greenloop batch` on this cluster, in the working folder."""
        process = start_batch(server, *arguments, "--address", self.cluster.address)
        self.started.append(process)
        return process


@pytest.fixture(scope="module")
def nodes() -> Iterator[TwoNodes]:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'greenloop[ray]'")
    from ray.cluster_utils import Cluster

    folder = Path(
        tempfile.mkdtemp(prefix="gl-ray-", dir="/tmp")
    )  # its sockets' names must be short
    before = dict(os.environ)
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(folder)}
    head = {**_NODE, "node_ip_address": _HEAD}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    found = TwoNodes(cluster, folder)
    try:
        yield found
    finally:
        for process in found.started:
            process.kill()
            process.communicate()
        cluster.shutdown()
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)


Ended = Callable[[subprocess.Popen[str]], tuple[int, str, str]]


@pytest.fixture
def ended() -> Ended:
    """Waits for a command: its status, standard output and standard error."""

    def wait(process: subprocess.Popen[str]) -> tuple[int, str, str]:
        out, err = process.communicate(timeout=180)
        return process.returncode, out, err

    return wait
