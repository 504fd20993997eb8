# wraps copies the whole namespace of what it wraps.
# reaches: the namespace of another object
# proof: REACHED == 1
from functools import update_wrapper


class Secret:
    def __init__(self):
        self.__dict__["eval"] = 1


class Plain:
    pass


REACHED = update_wrapper(Plain(), Secret()).eval
