# The function behind a class method of a library.
# reaches: the globals of a library class
# proof: REACHED["sys"] is sys
from fractions import Fraction
REACHED = Fraction.from_float.__func__.__globals__
