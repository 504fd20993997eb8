# A class pattern reads an attribute of a module as a keyword.
# reaches: os.system
# needs: 3.10
import os
match os:
    case object(system=f):
        REACHED = f
