# The parser of a path is a module, and its name is public.
# reaches: os.system
# needs: 3.13
from pathlib import Path
REACHED = Path("x").parser.os.system
