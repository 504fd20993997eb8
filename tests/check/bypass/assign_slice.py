# Through a slice of a list.
# reaches: builtins.vars
items = [0, 0, 0]
items[1:2] = [vars]
REACHED = items[1]
