# Through a list grown by augmented assignment.
# reaches: builtins.compile
tools = []
tools += [compile]
REACHED = tools[-1]
