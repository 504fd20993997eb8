# A deque.
# reaches: os.system
import os
from collections import deque
REACHED = deque([os]).popleft().system
