# The default of a lambda's parameter.
# reaches: os.system
import os
REACHED = (lambda m=os: m)().system
