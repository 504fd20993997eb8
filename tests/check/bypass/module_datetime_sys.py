# The module sys through datetime.
# reaches: sys
# needs: 3.9-3.11
import datetime
REACHED = datetime.sys
