# An assignment expression.
# reaches: os.system
import os
REACHED = (m := os).system
