# A class pattern reads a forbidden attribute.
# reaches: builtins.object.__subclasses__
# needs: 3.10
# proof: REACHED() == type.__subclasses__(object)
match object:
    case type(__subclasses__=f):
        REACHED = f
