# A module under another name.
# reaches: os.system
import os as operating
REACHED = operating.system
