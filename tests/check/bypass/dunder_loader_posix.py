# The loader of a builtin module loads the one under os.
# reaches: posix
import time
REACHED = time.__loader__.load_module("posix")
