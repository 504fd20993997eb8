# The environment as the subject of a match statement.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
# needs: 3.10
import os
match os.environ:
    case e:
        e["GLOVEBOX_PROBE"] = "1"
REACHED = e
