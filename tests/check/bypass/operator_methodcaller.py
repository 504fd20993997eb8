# Calling a method by its name.
# reaches: the subclasses of object
# proof: int in REACHED
from operator import methodcaller
REACHED = methodcaller("__subclasses__")(object)
