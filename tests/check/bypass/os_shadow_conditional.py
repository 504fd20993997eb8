# A name os that is harmless in one branch only.
# reaches: os.system
import os
if not os:
    os = None
REACHED = os.system
