# The argument that sorted gives to its key function.
# reaches: os.system
import os
seen = []
sorted([os], key=lambda m: seen.append(m.system) or 0)
REACHED = seen[0]
