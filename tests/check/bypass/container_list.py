# An element of a list.
# reaches: builtins.exec
REACHED = [print, exec][1]
