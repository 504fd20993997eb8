# A module through the call of a new type.
# reaches: os.system
import os
from typing import NewType
REACHED = NewType("T", object)(os).system
