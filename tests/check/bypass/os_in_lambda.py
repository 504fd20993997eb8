# os in the body of a lambda.
# reaches: os.system
import os
REACHED = (lambda: os)().system
