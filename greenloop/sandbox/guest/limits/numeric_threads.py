"""Number of threads that numeric libraries start."""

from __future__ import annotations

# They start a thread per core when they are imported. A fork has none of the threads of its parent,
# and a run may have only a limited number.
SINGLE_THREAD_VARIABLES = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")
}
