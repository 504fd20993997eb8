# The module sys through collections.
# reaches: sys
import collections
REACHED = collections._sys
