# A bound method knows its object, and its function the globals.
# reaches: the namespace of the program
# proof: REACHED is globals()
class C:
    def f(self):
        pass


REACHED = C().f.__func__.__globals__
