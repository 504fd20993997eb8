# The module os through os.path under another name.
# reaches: os.system
import os.path as p
REACHED = p.os.system
