# A partial whose state is replaced.
# reaches: builtins.eval
from functools import partial
p = partial(print)
p.__setstate__((__builtins__.eval, (), {}, None))
REACHED = p.func
