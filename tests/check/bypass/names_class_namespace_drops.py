# The namespace of a class forgets what is put in, so the builtin is found.
# reaches: builtins.eval
# proof: REACHED is builtins.eval
class Names(dict):
    def __setitem__(self, name, value):
        pass


class Meta(type):
    def __prepare__(*args):
        return Names()

    def __new__(mcs, name, bases, namespace):
        pass


got = []


class C(metaclass=Meta):
    eval = 1
    got.append(eval)


REACHED = got[0]
