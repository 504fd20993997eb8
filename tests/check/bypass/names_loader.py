# The loader of the program's own namespace leads to a module's function.
# reaches: the class of the loader
# proof: REACHED is type(__loader__)
REACHED = __loader__.__class__
