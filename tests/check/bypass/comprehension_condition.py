# The condition of a comprehension binds the name by walrus.
# reaches: os.system
import os
[0 for _ in (1,) if (m := os)]
REACHED = m.system
