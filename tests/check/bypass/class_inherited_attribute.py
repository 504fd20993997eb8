# A module as an attribute of a base class.
# reaches: os.system
import os


class Base:
    m = os


class C(Base):
    def get(self):
        return super().m.system


REACHED = C().get()
