# The variable of a nested comprehension.
# reaches: os.system
import os
REACHED = [x.system for row in [[os]] for x in row][0]
