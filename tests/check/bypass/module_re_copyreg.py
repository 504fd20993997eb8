# The module copyreg through re.
# reaches: copyreg
import re
REACHED = re.copyreg
