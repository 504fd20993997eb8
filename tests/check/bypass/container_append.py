# A list that a method fills.
# reaches: os.system
import os
bag = []
bag.append(os)
REACHED = bag.pop().system
