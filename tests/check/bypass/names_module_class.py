# The class of an allowed module makes a new one.
# reaches: a module
# proof: isinstance(REACHED, types.ModuleType)
import math
REACHED = math.__class__("made")
