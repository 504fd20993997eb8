# A forbidden builtin asked for in a container of one's own.
# reaches: builtins.eval
class Give:
    def __contains__(self, item):
        Give.got = item
        return True


eval in Give()
REACHED = Give.got
