# The private half of pathlib.
# reaches: os
# needs: 3.13
import pathlib
REACHED = pathlib._local.os
