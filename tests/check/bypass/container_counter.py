# The key of a Counter.
# reaches: os.system
import os
from collections import Counter
REACHED = Counter([os]).most_common(1)[0][0].system
