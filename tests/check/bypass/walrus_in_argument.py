# An assignment expression among the arguments of a call.
# reaches: os.system
import os
print(m := os)
REACHED = m.system
