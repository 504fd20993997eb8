# A module chosen at random.
# reaches: os.system
import os
import random
REACHED = random.choice([os]).system
