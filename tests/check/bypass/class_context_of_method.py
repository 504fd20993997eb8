# A method that keeps a module for another.
# reaches: os.system
import os


class C:
    def put(self, *things):
        self.things = list(things)

    def take(self):
        return self.things.pop()


c = C()
c.put(1, os)
REACHED = c.take().system
