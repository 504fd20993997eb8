# The method mro of a class that type gave.
# reaches: the classes above a module's
# proof: REACHED[-1] is object
REACHED = type(print).mro()
