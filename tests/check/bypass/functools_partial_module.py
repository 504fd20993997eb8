# A module bound by partial to a function of one's own.
# reaches: os.system
import os
from functools import partial
REACHED = partial(lambda m: m.system, os)()
