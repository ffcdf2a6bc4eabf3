"""Edit operators of mutation testing, some of which can also repair a fault.

Search-based repair tries those with a cost, besides its own operators, which know the names in
scope. Operators are applied in the order of the modules, and within a module as defined.
"""

from greenloop.syntax.operators import calls, control_flow, expressions, literals
from greenloop.syntax.operators.protocol import list_operators

OPERATORS = list_operators(expressions, literals, control_flow, calls)
FIXES = tuple(item for item in OPERATORS if item.cost)
