# Through an item of a dictionary.
# reaches: builtins.getattr
table = {}
table["read"] = getattr
REACHED = table["read"]
