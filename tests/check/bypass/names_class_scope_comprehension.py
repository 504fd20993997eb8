# A comprehension in the body of a class does not see the names of the class.
# reaches: builtins.eval
class C:
    eval = None
    tools = [eval for _ in (1,)]


REACHED = C.tools[0]
