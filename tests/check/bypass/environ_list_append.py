# The environment, put into a list by the method of the class.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
box = []
list.append(box, os.environ)
box[0]["GLOVEBOX_PROBE"] = "1"
REACHED = box[0]
