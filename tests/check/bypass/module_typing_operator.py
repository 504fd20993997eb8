# Reading attributes by name, through a module of typing.
# reaches: os.system
import os
import typing
REACHED = typing.operator.attrgetter("system")(os)
