# A function that pathlib borrowed: it reads attributes by name.
# reaches: the globals of a function
# proof: REACHED is globals()
# needs: 3.9-3.11
import pathlib
REACHED = pathlib.attrgetter("__globals__")(lambda: 0)
