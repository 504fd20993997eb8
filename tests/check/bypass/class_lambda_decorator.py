# A decorator that is a lambda.
# reaches: os.system
import os


@lambda f: os
def f():
    pass


REACHED = f.system
