# A class made by type.
# reaches: os.system
import os
REACHED = type("C", (), {"m": os}).m.system
