# The module os, imported from pathlib.
# reaches: os
# needs: 3.9-3.12
from pathlib import os as o
REACHED = o
