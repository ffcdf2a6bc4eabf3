"""Resource limits (rlimits) of a process that runs untrusted code."""

import resource
import sys

_CPU_MARGIN_SECONDS = 2
# These libraries start a thread per core at import, but a run has a limited number of threads.
SINGLE_THREAD_VARIABLES = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")
}


def set_rlimits(
    limits: dict[str, int], *, limit_kernel_objects: bool = False, limit_processes: bool = False
) -> None:
    """Limit memory, CPU seconds, file size and open files of this process.

    `limit_kernel_objects`: also queues, locked memory and pending signals. `limit_processes`: also
    the user's processes, which must then all belong to this run.
    Raises OSError if the kernel refuses a limit, but not on macOS, which has no limit on memory.
    """
    seconds = limits["cpu_seconds"]
    wanted = {
        # Not 0, for which the kernel would still start a program that receives core dumps.
        resource.RLIMIT_CORE: (1, 1),
        resource.RLIMIT_FSIZE: (limits["file_bytes"],) * 2,
        resource.RLIMIT_NOFILE: (limits["open_files"],) * 2,
        resource.RLIMIT_AS: (limits["memory_bytes"],) * 2,
        # The soft limit ends the process with a signal that indicates the reason.
        resource.RLIMIT_CPU: (seconds, seconds + _CPU_MARGIN_SECONDS),
    }
    if limit_kernel_objects:
        kinds = (resource.RLIMIT_MSGQUEUE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_SIGPENDING)
        wanted |= dict(zip(kinds, ((0, 0), (0, 0), (256, 256)), strict=True))
    if limit_processes:
        wanted[resource.RLIMIT_NPROC] = (limits["processes"],) * 2
    for kind, (soft, hard) in wanted.items():
        _set_rlimit(kind, soft, hard)


def _set_rlimit(kind: int, soft: int, hard: int) -> None:
    _, present = resource.getrlimit(kind)
    if present != resource.RLIM_INFINITY:
        soft, hard = min(soft, present), min(hard, present)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (ValueError, OSError):
        if sys.platform != "darwin":
            raise
