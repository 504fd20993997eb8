# The method of a UserString.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
from collections import UserString
REACHED = UserString("{0.__class__}").format(1)
