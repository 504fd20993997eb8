# A with statement whose second part fails, and whose first hides that.
# reaches: builtins.open
class Hide:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return True


class Fail:
    def __enter__(self):
        raise ValueError

    def __exit__(self, *exc):
        pass


with Hide(), Fail() as open:
    pass
REACHED = open
