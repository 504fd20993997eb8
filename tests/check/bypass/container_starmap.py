# starmap gives its arguments to a lambda.
# reaches: os.system
import itertools
import os
REACHED = next(itertools.starmap(lambda m: m.system, [(os,)]))
