# eval handed to functools.reduce.
# reaches: os.system
from functools import reduce
REACHED = reduce(lambda a, b: b(a), ["__import__('os').system", eval])
