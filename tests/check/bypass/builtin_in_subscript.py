# A forbidden builtin given to __getitem__.
# reaches: builtins.eval
class Give:
    def __getitem__(self, item):
        return item


REACHED = Give()[eval]
