# A forbidden builtin as the default of an encoder.
# reaches: the names of an object
# proof: "x" in REACHED
import json


class C:
    def __init__(self):
        self.x = 1


REACHED = json.dumps(C(), default=vars)
