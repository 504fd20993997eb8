"""Overflow the stack of the interpreter and of C.

levels: namespaces landlock
options: -t 5
variants: python c
expect: crashed | error | limit memory
"""

sys.setrecursionlimit(2**31 - 1)


class Deep:
    def __eq__(self, other):
        return [self] == [other]


def deeper():
    return deeper()


if canary["variant"] == "python":
    deeper()
else:
    assert Deep() != Deep()
