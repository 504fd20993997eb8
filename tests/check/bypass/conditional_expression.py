# A conditional expression.
# reaches: os.system
import os
REACHED = (os if True else None).system
