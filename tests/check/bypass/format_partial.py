# The method of str, wrapped.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
from functools import partial
REACHED = partial(str.format, "{0.__class__}")(1)
