# The loop variable after zip, nested.
# reaches: os.system
import os
for (a, b), c in zip(zip([1], [os]), [2]):
    REACHED = b.system
