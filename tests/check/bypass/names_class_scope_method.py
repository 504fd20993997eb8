# A method does not see the names of its class; it sees the builtin.
# reaches: builtins.open
class C:
    open = None

    def get(self):
        return open


REACHED = C().get()
