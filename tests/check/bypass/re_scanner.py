# A forbidden builtin in the table of a scanner.
# reaches: builtins.eval
import re
REACHED = re.Scanner([("x", eval)]).lexicon[0][1]
