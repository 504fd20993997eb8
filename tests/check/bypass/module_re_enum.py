# The module sys through re.
# reaches: sys
import re
REACHED = re.enum.sys
