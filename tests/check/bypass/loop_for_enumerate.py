# The loop variable after enumerate.
# reaches: os.system
import os
for _, m in enumerate((os,)):
    pass
REACHED = m.system
