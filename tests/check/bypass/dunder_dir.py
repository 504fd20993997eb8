# The names of an object, from itself.
# reaches: the names of an object
# proof: "__class__" in REACHED
REACHED = "x".__dir__()
