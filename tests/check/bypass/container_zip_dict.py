# A dictionary made of two lists.
# reaches: builtins.eval
REACHED = dict(zip(["f"], [eval]))["f"]
