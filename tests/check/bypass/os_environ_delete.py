# The environment, with a variable removed.
# reaches: a changed environment
# proof: "PATH" not in os.environ
import os
del os.environ["PATH"]
REACHED = os.environ
