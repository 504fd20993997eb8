# By unpacking into an attribute and an item.
# reaches: os.system
import os


class Holder:
    pass


h, d = Holder(), {}
h.m, d["x"] = os, os
REACHED = h.m.system if h.m is d["x"] else None
