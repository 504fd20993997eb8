# The name of an ImportError is imported by the function behind import.
# reaches: sys
try:
    import sys.nothing
except ImportError as e:
    REACHED = __import__(e.name.split(".")[0])
