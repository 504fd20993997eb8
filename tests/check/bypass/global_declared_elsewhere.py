# A global import inside a function, used at the top as if it were an unknown name.
# reaches: os.system
def setup():
    global toolbox
    import os as toolbox


setup()
REACHED = toolbox.system
