# A function whose default fails is not bound.
# reaches: builtins.eval
try:
    def eval(x=1 / 0):
        pass
except ZeroDivisionError:
    pass
REACHED = eval
