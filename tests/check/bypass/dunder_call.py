# eval, by the method that calls it.
# reaches: the value of evaluated text
# proof: REACHED == 42
REACHED = eval.__call__("6 * 7")
