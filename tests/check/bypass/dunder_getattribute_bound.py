# The method that an object has itself.
# reaches: builtins.str
REACHED = "x".__getattribute__("__class__")
