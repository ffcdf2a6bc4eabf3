"""Command line that starts a container without access to this machine and with tight limits."""

import csv
import io
import secrets
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox import guest
from greenloop.sandbox.backends.container.runtime import ContainerEngine
from greenloop.sandbox.backends.mounts import HOME, PACKAGES, SITE, list_site_entries
from greenloop.sandbox.limits import ResourceLimits

_EXTRA_BYTES = 256 << 20  # for the zygote; the guest enforces the limit of a run
_EXTRA_PROCESSES, _EXTRA_FILES = 16, 64
_USER_IDS = range(20000, 60000)  # within the 65536 ids that a rootless engine usually has
_MAIN_CODE = (
    f"import sys; sys.path[:] = [{HOME!r}, *filter(None, sys.path), {SITE!r}]; "
    "from guest.container.init import main; main()"
)
# Python executes itself again, to remove variables that the engine sets (such as a proxy with its
# password). The second start has no -I, because -I ignores PYTHONHASHSEED.
_START_CODE = (
    "import os, sys; sys.version_info >= (3, 10) or "
    "sys.exit('its Python is ' + sys.version.split()[0] + '; 3.10 or newer is needed'); "
    "{check}os.execve(sys.executable, [sys.executable, '-s', '-S', '-B', '-u', '-c', {main!r}, {name!r}], "
    "{{'PATH': '/usr/local/bin:/usr/bin:/bin', 'LANG': 'C.UTF-8', 'PYTHONHASHSEED': '0'}})"
)
# Wheels fit one version of Python and one platform.
_VERSION_CHECK_CODE = (
    "(sys.platform, *sys.version_info[:2]) == {own!r} or "
    "sys.exit('its Python is %s.%s on %s; the packages are for ' "
    "% (*sys.version_info[:2], sys.platform) + {required!r}); "
)


@dataclass(frozen=True)
class ContainerConfig:
    """Configuration that is fixed when a container starts: limits and packages."""

    limits: ResourceLimits
    packages: InstalledPackages

    @classmethod
    def from_limits(cls, limits: ResourceLimits, packages: InstalledPackages) -> "ContainerConfig":
        """Create a configuration without the limits that are set for each run."""
        fixed = replace(limits, timeout_s=0.0, cpu_s=None, memory_bytes=0)
        fixed = replace(fixed, output_bytes=0, kept_bytes=0, result_bytes=0)
        return cls(fixed, packages)


def build_start_command(engine: ContainerEngine, name: str, config: ContainerConfig) -> list[str]:
    """Return the command of a container that serves runs over standard input and output."""
    limits, is_docker = config.limits, engine.name == "docker"
    # Each container has its own user, because the kernel counts processes and watches by user.
    user = secrets.choice(_USER_IDS)
    memory = str(limits.total_bytes + _EXTRA_BYTES)
    words = ["run", "--rm", "--interactive", "--pull=never", f"--name={name}", "--label=greenloop"]
    words += ["--log-driver=none", "--hostname=sandbox", "--workdir=/", f"--user={user}:{user}"]
    words += ["--network=none", "--ipc=private", "--read-only", "--cap-drop=ALL"]
    words += ["--security-opt=no-new-privileges", f"--memory={memory}", f"--memory-swap={memory}"]
    words += [
        f"--pids-limit={limits.processes + _EXTRA_PROCESSES}",
        f"--shm-size={limits.shared_bytes}",
    ]
    for kind, limit in (
        ("nofile", limits.open_files + _EXTRA_FILES),
        ("nproc", limits.processes + _EXTRA_PROCESSES),
        ("fsize", limits.file_bytes),
        ("core", 1),
    ):
        words.append(f"--ulimit={kind}={limit}:{limit}")
    inodes = f",nr_inodes={limits.inodes}" if is_docker else ""
    words.append(f"--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size={limits.disk_bytes}{inodes}")
    # No closed connection remains for the next run, and socket buffers stay small.
    words.append("--sysctl=net.ipv4.tcp_max_tw_buckets=0")
    words += [f"--sysctl=net.ipv4.tcp_{kind}mem=4096 65536 212992" for kind in "rw"]
    words += [] if is_docker else ["--read-only-tmpfs=false", "--http-proxy=false", "--no-hosts"]
    # Any Python can load pytest, which is pure. Without this /etc/hosts podman copies the host's.
    folder = Path(guest.__file__).parent
    mounts = [(str(folder), f"{HOME}/guest"), (str(folder / "isolation/hosts"), "/etc/hosts")]
    mounts += [(config.packages.folder, PACKAGES)] if config.packages else []
    mounts += [(source, f"{SITE}/{item}") for item, source in list_site_entries(("pytest",))]
    words += [f"--mount={_format_mount(source, target)}" for source, target in mounts]
    start = _build_python_code(name, config.packages)
    return engine.command(*words, "--entrypoint=python3", engine.image, "-I", "-S", "-c", start)


def _build_python_code(name: str, packages: InstalledPackages) -> str:
    """Return the code that Python runs in the container."""
    major, minor = sys.version_info[:2]
    required = f"{major}.{minor} on {sys.platform}"
    own = (sys.platform, major, minor)
    check = _VERSION_CHECK_CODE.format(own=own, required=required) if packages else ""
    return _START_CODE.format(main=_MAIN_CODE, name=name, check=check)


def _format_mount(source: str, target: str) -> str:
    line = io.StringIO()  # CSV, as both engines parse it, because paths may contain commas
    fields = ["type=bind", f"source={source}", f"target={target}", "readonly"]
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()
