# A forbidden builtin, called by accumulate.
# reaches: os.system
import itertools
REACHED = list(itertools.accumulate([0, "__import__('os').system"], lambda a, b: eval(b)))[1]
