# By nested unpacking.
# reaches: os.system
import os
(_, [(_, m), *_]) = (0, [(1, os), 2, 3])
REACHED = m.system
