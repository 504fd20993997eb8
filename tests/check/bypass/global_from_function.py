# A global that a function binds.
# reaches: os.system
def bind():
    global tool
    import os
    tool = os


bind()
REACHED = tool.system
