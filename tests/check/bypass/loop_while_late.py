# A name that a later turn of the loop uses before its own binding.
# reaches: os.system
import os
m = None
REACHED = None
turn = 0
while turn < 2:
    if turn == 1:
        REACHED = m.system
    m = os
    turn += 1
