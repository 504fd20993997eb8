# The module under os.
# reaches: posix.system
import posix
REACHED = posix.system
