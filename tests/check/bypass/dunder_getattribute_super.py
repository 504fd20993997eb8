# super() reads attributes by name.
# reaches: the class of an object
# proof: REACHED.__name__ == "C"
class C:
    def get(self, name):
        return super().__getattribute__(name)


REACHED = C().get("__cl" + "ass__")
