# The function behind the class statement.
# reaches: builtins.__build_class__
REACHED = __builtins__.__build_class__
