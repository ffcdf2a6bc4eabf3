"""Edit operators: the small faults of mutation testing, some of which also undo a fault.

Those with a cost are tried by search-based repair, too, beside operators of its own that know the
names in scope. A module lists its operators in OPERATORS, in the order in which they are applied.
"""

from greenloop.syntax.operators import calls, control_flow, expressions, literals
from greenloop.syntax.operators.protocol import Operator
from greenloop.syntax.source import TextEdit

OPERATORS: tuple[Operator[TextEdit], ...] = (
    *expressions.OPERATORS,
    *literals.OPERATORS,
    *control_flow.OPERATORS,
    *calls.OPERATORS,
)
FIXES = tuple(item for item in OPERATORS if item.cost)
