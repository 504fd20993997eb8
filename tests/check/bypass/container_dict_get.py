# The value of a dictionary by get.
# reaches: builtins.open
REACHED = {"o": open}.get("o")
