# The value of a type alias, evaluated when it is asked for.
# reaches: builtins.eval
# needs: 3.12
type Alias = eval
REACHED = Alias.__value__
