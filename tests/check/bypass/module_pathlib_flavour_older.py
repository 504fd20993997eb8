# The flavour of a path has a module.
# reaches: os.system
# needs: 3.9-3.11
from pathlib import Path
REACHED = Path("x")._flavour.pathmod.os.system
