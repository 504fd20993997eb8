# The module sys through fractions.
# reaches: sys
import fractions
REACHED = fractions.sys
