# open, through a module of pathlib.
# reaches: builtins.open
# needs: 3.9-3.12
import pathlib
REACHED = pathlib.io.open
