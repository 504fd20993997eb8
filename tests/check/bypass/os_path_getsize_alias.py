# A function of os.path that looks at a file, under another name.
# reaches: os.path.getsize
from os import path as p
REACHED = p.getsize
