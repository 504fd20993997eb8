# The default of a type parameter.
# reaches: builtins.eval
# needs: 3.13
type Alias[T = eval] = list[T]
REACHED = Alias.__type_params__[0].__default__
