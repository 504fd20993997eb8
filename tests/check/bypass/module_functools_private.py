# A private name of functools.
# reaches: functools._make_key
import functools
REACHED = functools._make_key
