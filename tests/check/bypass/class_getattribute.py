# A class that answers every attribute, also of super().
# reaches: the namespace of an object
# proof: "x" in REACHED
class C:
    def __init__(self):
        self.x = 1

    def __getattribute__(self, name):
        return object.__getattribute__(self, "__di" + "ct__")


REACHED = C().anything
