# Through an attribute of an object of one's own.
# reaches: builtins.eval
class Box:
    pass

box = Box()
box.tool = eval
REACHED = box.tool
