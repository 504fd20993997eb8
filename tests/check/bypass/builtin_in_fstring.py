# A forbidden builtin inside an f-string.
# reaches: the value of evaluated text
# proof: REACHED == "42"
REACHED = f"{eval('6 * 7')}"
