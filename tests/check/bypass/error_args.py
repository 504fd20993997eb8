# A module as the argument of an exception.
# reaches: os.system
import os
try:
    raise ValueError(os)
except ValueError as e:
    REACHED = e.args[0].system
