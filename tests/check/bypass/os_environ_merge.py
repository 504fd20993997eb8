# The environment, changed by an operator.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
from os import environ as e
e |= {"GLOVEBOX_PROBE": "1"}
REACHED = e
