# The function behind the import statement, by reference.
# reaches: builtins.__import__
imp = __import__
REACHED = imp
