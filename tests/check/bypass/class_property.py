# A module as the value of a property.
# reaches: os.system
import os


class C:
    @property
    def m(self):
        return os


REACHED = C().m.system
