# From every class to a class of os, to the globals of os.
# reaches: os.system
for c in object.__subclasses__():
    if c.__name__ == "_wrap_close":
        REACHED = c.__init__.__globals__["system"]
