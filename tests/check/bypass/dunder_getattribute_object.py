# The method of object that reads attributes by name.
# reaches: builtins
REACHED = object.__getattribute__(print, "__self__")
