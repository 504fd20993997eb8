# A class whose body fails is not bound.
# reaches: builtins.eval
try:
    class eval:
        1 / 0
except ZeroDivisionError:
    pass
REACHED = eval
