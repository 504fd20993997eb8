# The same, by the metaclass of a base.
# reaches: builtins.eval
# proof: REACHED is builtins.eval
class Names(dict):
    def __setitem__(self, name, value):
        if name != "eval":
            super().__setitem__(name, value)


class Meta(type):
    def __prepare__(*args):
        return Names()


class Base(metaclass=Meta):
    pass


got = []


class C(Base):
    eval = 1
    got.append(eval)


REACHED = got[0]
