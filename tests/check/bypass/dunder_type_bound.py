# The bound of a type parameter, evaluated when it is asked for.
# reaches: builtins.eval
# needs: 3.12
def f[T: eval](x: T) -> T:
    return x


REACHED = f.__type_params__[0].__bound__
