# The attribute __mro__ of a class.
# reaches: the classes above
# proof: REACHED[-1] is object
REACHED = type("").__mro__
