# A forbidden builtin as the key of groupby.
# reaches: the value of evaluated text
# proof: REACHED == 42
import itertools
REACHED = next(itertools.groupby(["6 * 7"], eval))[0]
