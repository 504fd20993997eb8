# The class of a module, replaced so that reading it runs code.
# reaches: a changed module
# proof: type(REACHED).__name__ == "Mine"
import json


class Mine(type(json)):
    pass


json.__class__ = Mine
REACHED = json
