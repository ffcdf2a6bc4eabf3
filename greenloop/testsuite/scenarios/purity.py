"""Names of the standard library whose values are the same in every process"""

from __future__ import annotations

import re

# Modules whose functions depend on their arguments alone; all others depend on the process.
PURE_MODULES = frozenset(
    "__future__ abc bisect collections copy dataclasses datetime decimal enum fractions functools "
    "heapq itertools json math numbers operator re statistics string textwrap typing".split()
)
CLOCK_METHODS = frozenset({"now", "today", "utcnow"})
PROCESS_BUILTINS = frozenset(
    "id open input globals locals vars eval exec compile __import__ hash dir breakpoint".split()
)
IMMUTABLE_CALLS = frozenset(
    "str int float bool complex bytes frozenset len Decimal Fraction date datetime timedelta time "
    "range round abs".split()
)
# Names of other modules that are the same in both processes.
SHARED_NAMES = frozenset(
    "call mock.call ANY mock.ANY sys.version_info sys.maxsize sys.platform os.name os.sep os.linesep "
    "os.path.join os.path.basename os.path.dirname os.path.splitext".split()
)
CLASS_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")
