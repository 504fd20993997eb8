# An import in the handler of one that failed.
# reaches: sys
try:
    import nothing_of_this_name as m
except ImportError:
    import sys as m
REACHED = m
