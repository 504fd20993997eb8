# A function made of a code object and a namespace.
# reaches: builtins.eval
def f():
    return 1


F = type(f)
REACHED = F(f.__code__.replace(co_code=(lambda: tool).__code__.co_code, co_names=("tool",)), {"tool": __builtins__.eval})()
