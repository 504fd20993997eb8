# A module through a function that gives back its argument.
# reaches: os.system
import os
from typing import cast
REACHED = cast(object, os).system
