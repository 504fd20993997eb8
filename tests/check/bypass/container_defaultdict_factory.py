# A forbidden builtin as a default factory, which calls it.
# reaches: the namespace of the program
# proof: REACHED is globals()
from collections import defaultdict
REACHED = defaultdict(globals)["x"]
