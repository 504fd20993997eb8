# Unpacking inside a comprehension.
# reaches: os.system
import os
REACHED = [b.system for a, (b, *c) in [(1, (os, 2, 3))]][0]
