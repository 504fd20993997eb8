# A generator that finds the frame which runs it.
# reaches: builtins.eval
def gen():
    yield g.gi_frame.f_back


g = gen()
REACHED = [frame.f_globals for frame in g][0]["__builtins__"].eval
