# An import inside a function.
# reaches: subprocess
def get():
    import subprocess

    return subprocess


REACHED = get()
