# A function that imports.
# reaches: importlib.import_module
from importlib import import_module
REACHED = import_module
