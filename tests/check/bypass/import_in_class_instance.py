# An import in the body of a class, read from an instance.
# reaches: os.system
class C:
    import os as inner

    def get(self):
        return self.inner.system


REACHED = C().get()
