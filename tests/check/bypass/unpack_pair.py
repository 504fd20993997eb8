# The module os by unpacking a pair.
# reaches: os.system
import os
name, module = "os", os
REACHED = module.system
