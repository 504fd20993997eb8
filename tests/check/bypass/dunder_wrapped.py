# What a decorator wrapped.
# reaches: the globals of a library function
# proof: REACHED["sys"] is sys
import functools
import fractions


@functools.wraps(fractions.Fraction.limit_denominator)
def mine():
    pass


REACHED = mine.__wrapped__.__globals__
