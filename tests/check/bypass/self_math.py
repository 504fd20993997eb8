# A function of an allowed module knows its module.
# reaches: math
import math
REACHED = math.sin.__self__
