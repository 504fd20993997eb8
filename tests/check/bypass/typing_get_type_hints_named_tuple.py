# The annotation of a named tuple's field.
# reaches: os.system
from typing import NamedTuple, get_type_hints
N = NamedTuple("N", [("x", "__import__('os').system")])
REACHED = get_type_hints(N)["x"]
