# The body of a class reads the name that the class will have.
# reaches: builtins.open
class open:
    tool = [open]


REACHED = open.tool[0]
