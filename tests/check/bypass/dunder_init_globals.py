# The globals of a method of a library class.
# reaches: sys
from fractions import Fraction
REACHED = Fraction.__new__.__globals__["sys"]
