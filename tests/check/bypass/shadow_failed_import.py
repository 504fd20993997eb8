# An import that fails binds nothing.
# reaches: builtins.eval
try:
    import no_such_module_at_all as eval
except ImportError:
    pass
REACHED = eval
