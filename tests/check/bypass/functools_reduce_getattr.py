# A path of attributes, walked by reduce.
# reaches: builtins
from functools import reduce
REACHED = reduce(getattr, ["__self__"], print)
