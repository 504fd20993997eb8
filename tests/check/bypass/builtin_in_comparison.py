# A forbidden builtin as the operand of a comparison of one's own.
# reaches: builtins.eval
class Give:
    def __lt__(self, other):
        self.got = other
        return True


g = Give()
g < eval
REACHED = g.got
