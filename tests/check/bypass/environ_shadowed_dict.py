# dict, where it may be a function of one's own.
# reaches: os.environ, changed
# proof: os.environ["A"] == REACHED
import os


def change(e):
    e["A"] = "b"


if len("x") > 0:
    dict = change
dict(os.environ)
REACHED = "b"
