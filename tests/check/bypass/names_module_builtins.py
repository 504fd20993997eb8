# Every module has the builtins in its namespace.
# reaches: builtins.eval
import json
REACHED = json.__builtins__["eval"]
