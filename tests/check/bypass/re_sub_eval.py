# A forbidden builtin, called with every match.
# reaches: the value of evaluated text
# proof: REACHED == "42"
import re
REACHED = re.sub(r"\d \* \d", lambda m: str(eval(m[0])), "6 * 7")
