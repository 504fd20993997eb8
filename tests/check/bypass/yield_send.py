# The value that is sent into a generator.
# reaches: os.system
import os


def gen():
    got = yield
    yield got.system


g = gen()
next(g)
REACHED = g.send(os)
