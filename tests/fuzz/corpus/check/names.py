import os as x
a = x
b, (c, *d) = a, (1, 2)
for e in [a, b]: e.system
[f for f in (os,) if (g := f)]
def h(i=os, *j, k=eval, **l):
    global a
    def m():
        nonlocal i
        i = a
    return i
lambda n=1, /, *o: n
del a
