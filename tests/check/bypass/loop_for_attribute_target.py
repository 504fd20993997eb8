# A for statement whose target is an attribute.
# reaches: builtins.eval
class Box:
    tool = None


for Box.tool in [eval]:
    pass
REACHED = Box.tool
