# A dictionary whose keys come from an iterable.
# reaches: os.system
import os
REACHED = list(dict.fromkeys([os]))[0].system
