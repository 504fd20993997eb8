# A function of os.path that looks at the file system.
# reaches: os.path.exists
import os
REACHED = os.path.exists
