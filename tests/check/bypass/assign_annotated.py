# Through an annotated assignment.
# reaches: builtins.open
from typing import Any
tool: Any = open
REACHED = tool
