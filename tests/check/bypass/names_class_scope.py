# A name in the body of a class that falls through to the builtin.
# reaches: builtins.eval
class C:
    if False:
        eval = None
    tool = eval


REACHED = C.tool
