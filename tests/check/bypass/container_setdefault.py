# A dictionary that setdefault fills.
# reaches: os.system
import os
REACHED = {}.setdefault("m", os).system
