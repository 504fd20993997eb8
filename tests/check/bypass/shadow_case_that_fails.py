# A pattern that does not match binds nothing.
# reaches: builtins.open
# needs: 3.10
match 1:
    case [open]:
        pass
REACHED = open
