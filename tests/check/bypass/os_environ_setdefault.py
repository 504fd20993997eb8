# The environment, changed by a method that reads like a question.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
os.environ.setdefault("GLOVEBOX_PROBE", "1")
REACHED = os.environ
