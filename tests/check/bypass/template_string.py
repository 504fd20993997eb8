# A template string keeps the value of what stands in it.
# reaches: builtins.eval
# needs: 3.14
REACHED = t"{eval}".interpolations[0].value
