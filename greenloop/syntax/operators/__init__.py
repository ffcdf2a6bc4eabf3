"""Edit operators: the small faults of mutation testing, some of which also undo a fault.

Those with a cost are tried by search-based repair, too, beside operators of its own that know the
names in scope. They are applied in the order of the modules, and within one of their definitions.
"""

from greenloop.syntax.operators import calls, control_flow, expressions, literals
from greenloop.syntax.operators.protocol import list_operators

OPERATORS = list_operators(expressions, literals, control_flow, calls)
FIXES = tuple(item for item in OPERATORS if item.cost)
