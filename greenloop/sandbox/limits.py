"""Resource limits of a run."""

import os
from contextlib import suppress
from dataclasses import asdict, dataclass

from greenloop.records import LimitName
from greenloop.sandbox.guest.files.collector import COLLECT_FILES_KEY
from greenloop.settings import Settings

_EXTRA_CPU_SECONDS = 2
SUITE_SECONDS = 180.0  # of wall-clock time, for the tests of a project
TOO_LATE = "still running after"
_MAX_STRETCH = 8.0


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Limits of one run; sizes in bytes."""

    timeout_s: float = 30.0  # wall-clock seconds
    cpu_s: int | None = None  # CPU seconds of one process; None for the wall-clock limit and 2 more
    memory_bytes: int = 2048 << 20  # address space of one process
    total_bytes: int = 2048 << 20  # memory of all processes together, with the files of the run
    output_bytes: int = 4096 << 10  # output after which the run is ended
    kept_bytes: int = 64 << 10  # output that is kept
    result_bytes: int = 8 << 20  # data on the result channel
    file_bytes: int = 64 << 20
    disk_bytes: int = 64 << 20
    shared_bytes: int = 16 << 20
    inodes: int = 4096
    open_files: int = 256
    processes: int = 64

    @property
    def cpu_seconds(self) -> int:
        """CPU seconds of one process."""
        return int(self.timeout_s) + _EXTRA_CPU_SECONDS if self.cpu_s is None else self.cpu_s

    def to_guest(self, *, collects_files: bool = False) -> dict[str, int]:
        """Return the limits as the guest reads them, and whether created files are collected."""
        counts = {name: n for name, n in asdict(self).items() if name not in ("timeout_s", "cpu_s")}
        counts |= {"wall_ms": int(self.timeout_s * 1000), "cpu_seconds": self.cpu_seconds}
        return {**counts, **({COLLECT_FILES_KEY: 1} if collects_files else {})}

    def describe_exceeded(self, name: LimitName) -> str:
        """Describe in words that a limit was exceeded, with its value."""
        return {
            "wall time": f"{TOO_LATE} {self.timeout_s:g} s",
            "cpu": f"more than {self.cpu_seconds} s of CPU time in one process",
            "memory": f"more than {_format_mb(self.memory_bytes)} of memory in one process",
            "total memory": f"more than {_format_mb(self.total_bytes)} of memory in all, with its files",
            "processes": f"more than {self.processes} processes and threads",
            "disk": f"more than {_format_mb(self.disk_bytes)} of files",
            "inodes": f"more than {self.inodes} files and folders",
            "shared memory": f"more than {_format_mb(self.shared_bytes)} of shared memory",
            "open files": f"more than {self.open_files} open files in one process",
            "file size": f"a file of more than {_format_mb(self.file_bytes)}",
            "output": f"more than {self.output_bytes >> 10} KB of output",
        }[name]


def limits_from_settings(settings: Settings) -> ResourceLimits:
    """Return the limits that the settings name."""
    total_mb = settings.memory_mb if settings.total_memory_mb is None else settings.total_memory_mb
    return ResourceLimits(
        timeout_s=settings.timeout_s,
        cpu_s=settings.cpu_s,
        memory_bytes=settings.memory_mb << 20,
        total_bytes=total_mb << 20,
        output_bytes=settings.output_kb << 10,
        file_bytes=settings.file_mb << 20,
        disk_bytes=settings.disk_mb << 20,
        shared_bytes=settings.shared_memory_mb << 20,
        inodes=settings.inodes,
        open_files=settings.open_files,
        processes=settings.processes,
    )


def measure_load() -> float:
    """Return the load average of the last minute per core; 0 if unknown."""
    with suppress(AttributeError, OSError):
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    return 0.0


def stretch(seconds: float) -> float:
    """Scale wall-clock seconds of an idle machine to the load of this one, at most eightfold."""
    return seconds * min(max(1.0, measure_load()), _MAX_STRETCH)


def _format_mb(size: int) -> str:
    return f"{size / (1 << 20):g} MB"
