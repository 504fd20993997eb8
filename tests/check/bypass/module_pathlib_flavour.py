# The flavour of a path is, or has, a module.
# reaches: os.system
# needs: 3.12-3.12
from pathlib import Path
REACHED = Path("x")._flavour.os.system
