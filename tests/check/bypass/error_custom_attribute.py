# A module as an attribute of an exception of one's own.
# reaches: os.system
import os


class Carry(Exception):
    def __init__(self, thing):
        self.thing = thing


try:
    raise Carry(os)
except Carry as e:
    REACHED = e.thing.system
