# A for statement whose target is an item.
# reaches: os.system
import os
slots = [None]
for slots[0] in (os,):
    pass
REACHED = slots[0].system
