# A private module through collections.
# reaches: sys
import collections
REACHED = collections._collections_abc.sys
