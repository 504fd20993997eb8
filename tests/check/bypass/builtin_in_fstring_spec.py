# A forbidden builtin inside the format of an f-string.
# reaches: the value of evaluated text
# proof: REACHED == "  x"
REACHED = f"{'x':>{eval('1 + 2')}}"
