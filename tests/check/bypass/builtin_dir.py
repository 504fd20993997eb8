# The names of an object.
# reaches: builtins.dir
REACHED = {"d": dir}["d"]
