# The parameter of a lambda.
# reaches: os.system
import os
REACHED = (lambda m: m.system)(os)
