# A forbidden builtin as a keyword of a class.
# reaches: builtins.eval
class Base:
    def __init_subclass__(cls, tool):
        cls.tool = [tool]


class C(Base, tool=eval):
    pass


REACHED = C.tool[0]
