# A module as the code of SystemExit.
# reaches: os.system
import os
try:
    raise SystemExit(os)
except SystemExit as e:
    REACHED = e.code.system
