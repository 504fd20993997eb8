# By spreading into a list display.
# reaches: os.system
import os
pair = (1, os)
REACHED = [0, *pair][2].system
