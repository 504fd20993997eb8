# eval wrapped by functools.partial.
# reaches: os.system
from functools import partial
REACHED = partial(eval, "__import__('os').system")()
