# dict in the body of a class whose namespace is one's own.
# reaches: os.environ, changed
# proof: os.environ["A"] == REACHED
import os


class Names(dict):
    def __getitem__(self, name):
        if name == "dict":
            return change
        return super().__getitem__(name)


class Meta(type):
    def __prepare__(*args):
        return Names()


def change(e):
    e["A"] = "b"


class C(metaclass=Meta):
    dict(os.environ)


REACHED = "b"
