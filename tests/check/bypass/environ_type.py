# The class of the environment makes another one, which changes the variables of the process.
# reaches: a changed environment
# proof: os.system('test "$GLOVEBOX_PROBE" = 1') == 0
import os
Environ = type(os.environ)
e = Environ({}, str.encode, bytes.decode, str.encode, bytes.decode)
e["GLOVEBOX_PROBE"] = "1"
REACHED = e
