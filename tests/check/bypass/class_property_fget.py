# A forbidden builtin behind a property.
# reaches: builtins.vars
class C:
    names = property(vars)


REACHED = C.names.fget
