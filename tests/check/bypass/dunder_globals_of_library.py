# The globals of a function of an allowed module.
# reaches: codecs
import json
REACHED = json.loads.__globals__["codecs"]
