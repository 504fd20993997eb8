# The globals behind the object copyright.
# reaches: sys
REACHED = copyright.__init__.__globals__["sys"]
