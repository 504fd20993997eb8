# The builtins that ask for and remove attributes.
# reaches: builtins.delattr
pair = hasattr, delattr
REACHED = pair[1]
