# The loop variable over the items of a dictionary.
# reaches: os.system
import os
for key, module in {"os": os}.items():
    REACHED = module.system
