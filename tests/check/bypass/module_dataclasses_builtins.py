# The builtins through dataclasses.
# reaches: builtins.eval
# needs: 3.9-3.11
import dataclasses
REACHED = dataclasses.builtins.eval
