# A function with text annotations, registered under another name.
# reaches: os.system
import functools
found = []
dispatch = functools.singledispatch(print)


def late(x: "(found.append(__import__('os').system), int)[1]"):
    pass


dispatch.register(late)
REACHED = found[0]
