# What a cache wrapped.
# reaches: the globals of a function
# proof: REACHED is globals()
from functools import lru_cache


@lru_cache
def f():
    pass


REACHED = f.__wrapped__.__globals__
