# The module os through pathlib.
# reaches: os.system
# needs: 3.9-3.12
import pathlib
REACHED = pathlib.os.system
