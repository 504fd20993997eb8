# The namespace of an allowed module.
# reaches: codecs
import json
REACHED = json.__dict__["codecs"]
