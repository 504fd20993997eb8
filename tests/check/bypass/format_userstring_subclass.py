# The method of a class that is a UserString.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
from collections import UserString


class Text(UserString):
    pass


REACHED = Text("{0.__globals__}").format(lambda: 0)
