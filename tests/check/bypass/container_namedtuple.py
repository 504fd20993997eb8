# A field of a named tuple.
# reaches: os.system
import os
from collections import namedtuple
REACHED = namedtuple("T", "m")(os).m.system
