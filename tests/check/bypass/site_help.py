# The object help, whose class lives in a module with everything.
# reaches: builtins.help
REACHED = help
