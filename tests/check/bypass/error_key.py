# A module as the key that was missing.
# reaches: os.system
import os
try:
    {}[os]
except KeyError as e:
    REACHED = e.args[0].system
