# vars as an argument of map.
# reaches: os.system
import os
REACHED = next(map(vars, [os]))["system"]
