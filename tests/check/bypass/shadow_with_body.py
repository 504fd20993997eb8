# A with statement that hides why its body did not bind the name.
# reaches: builtins.open
class Hide:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return True


with Hide():
    1 / 0
    open = print
REACHED = open
