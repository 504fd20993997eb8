# A module of a module under another name.
# reaches: os.system
import uuid as u
m = u
REACHED = m.os.system
