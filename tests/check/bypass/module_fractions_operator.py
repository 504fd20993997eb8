# Calling methods by name, through fractions.
# reaches: operator.methodcaller
from fractions import operator as op
REACHED = op.methodcaller
