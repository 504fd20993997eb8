# A name that an allowed module does not have.
# reaches: builtins.eval
try:
    from json import no_such_name as eval
except ImportError:
    pass
REACHED = eval
