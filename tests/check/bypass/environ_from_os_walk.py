# The environment, in a loop over names that may be it.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
from os import environ
for e in (environ,):
    e["GLOVEBOX_PROBE"] = "1"
REACHED = e
