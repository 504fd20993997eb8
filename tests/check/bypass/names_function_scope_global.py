# A local of another function does not shadow the builtin here.
# reaches: builtins.eval
def other():
    eval = None
    return eval


def get():
    return eval


REACHED = get()
