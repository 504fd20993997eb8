# The annotation of a typed dictionary's key.
# reaches: os.system
from typing import TypedDict, get_type_hints
T = TypedDict("T", {"x": "__import__('os').system"})
REACHED = get_type_hints(T)["x"]
