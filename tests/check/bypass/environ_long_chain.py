# The environment through a long chain of names, the last first.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


def s9():
    global e9
    e9 = e8


def s8():
    global e8
    e8 = e7


def s7():
    global e7
    e7 = e6


def s6():
    global e6
    e6 = e5


def s5():
    global e5
    e5 = e4


def s4():
    global e4
    e4 = e3


def s3():
    global e3
    e3 = e2


def s2():
    global e2
    e2 = e1


def s1():
    global e1
    e1 = os.environ


for step in (s1, s2, s3, s4, s5, s6, s7, s8, s9):
    step()
e9["GLOVEBOX_PROBE"] = "1"
REACHED = e9
