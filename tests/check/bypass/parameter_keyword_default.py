# As the default of a keyword-only parameter.
# reaches: builtins.eval
def use(*, f=eval):
    return f


REACHED = use()
