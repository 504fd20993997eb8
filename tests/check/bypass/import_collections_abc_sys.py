# The module sys through collections.abc.
# reaches: sys
# needs: 3.13
import collections.abc
REACHED = collections.abc.sys
