# The module os through random.
# reaches: os.system
import random
REACHED = random._os.system
