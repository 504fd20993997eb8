# From every class to the one that loads builtin modules.
# reaches: posix
for c in object.__subclasses__():
    if c.__name__ == "BuiltinImporter":
        REACHED = c.load_module("posix")
