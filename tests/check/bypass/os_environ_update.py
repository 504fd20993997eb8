# The environment, changed by a method.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
from os import environ
environ.update(GLOVEBOX_PROBE="1")
REACHED = environ
