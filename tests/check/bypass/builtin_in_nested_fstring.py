# A forbidden builtin in an f-string inside an f-string.
# reaches: the value of evaluated text
# proof: REACHED == "7"
REACHED = f"{f'{eval(str(7))}'}"
