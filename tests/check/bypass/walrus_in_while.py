# An assignment expression in the test of a loop.
# reaches: os.system
import os
queue = [os]
while m := queue.pop():
    REACHED = m.system
    break
