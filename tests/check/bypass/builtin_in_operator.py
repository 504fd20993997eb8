# A forbidden builtin as the operand of an operator of one's own.
# reaches: builtins.eval
class Give:
    def __matmul__(self, other):
        return other


REACHED = Give() @ eval
