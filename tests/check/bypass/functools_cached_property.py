# A module as the value of a cached property.
# reaches: os.system
import os
from functools import cached_property


class C:
    @cached_property
    def m(self):
        return os


REACHED = C().m.system
