# update_wrapper copies the namespace of a module.
# reaches: codecs
import functools
import json


class Plain:
    pass


p = functools.update_wrapper(Plain(), json)
REACHED = p.codecs
