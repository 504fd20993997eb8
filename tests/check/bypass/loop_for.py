# The loop variable of a for statement.
# reaches: os.system
import os
for m in [os]:
    REACHED = m.system
