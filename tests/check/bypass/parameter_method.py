# The parameter of a method.
# reaches: os.system
import os


class User:
    def use(self, m):
        self.m = m
        return self

    def get(self):
        return self.m.system


REACHED = User().use(os).get()
