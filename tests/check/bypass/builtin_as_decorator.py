# A builtin as a decorator, which is called with what it decorates.
# reaches: the value of evaluated text
# proof: REACHED == 42
def text(f):
    return "6 * 7"


@eval
@text
def REACHED():
    pass
